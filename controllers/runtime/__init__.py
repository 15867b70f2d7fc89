"""What every controller runs on: key queue, workers, event recorder. Knows no resource type and no DNS."""

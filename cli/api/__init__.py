"""The API that daily commands talk to: which one, what kinds it has, how objects there change, and what a refusal is told as."""

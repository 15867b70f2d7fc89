"""Questions to name servers, and master files before they are served."""

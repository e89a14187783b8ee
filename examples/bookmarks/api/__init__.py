"""The component of Acme Bookmarks: what answers its tools, and the page that it embeds."""

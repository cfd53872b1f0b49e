"""Tasks that regress labels of pictures: what the studies of ages and of head poses share."""

int off;

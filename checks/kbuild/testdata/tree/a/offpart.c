int offpart;

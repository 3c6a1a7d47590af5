int changegroup_placeholder(void);

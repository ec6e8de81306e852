/* A shared object that is no plugin. */
extern int mute_plugin_has_no_entry_point;
int mute_plugin_has_no_entry_point = 1;

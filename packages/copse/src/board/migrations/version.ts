/** How many migrations there are. Apart from them, because commands that only read need nothing else of them. */
export const migratedVersion = 9;

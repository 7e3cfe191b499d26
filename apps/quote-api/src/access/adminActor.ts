/** Actor of every change through the admin listener, whose callers share one key. */
export const adminActor = 'admin'

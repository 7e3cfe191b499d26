/**
 * First ports for services of this worker, below those that the system hands out by itself: a service
 * binds its ports seconds after they were chosen, and an outgoing connection may hold them by then. Each worker has
 * forty, of which a session takes up to the thirtieth: the worker beside it may have the next process id.
 */
export function firstServicePort(): number {
  return 20_000 + (process.pid % 300) * 40
}

/**
 * First ports for services of this worker, below those that the system hands out by itself: a service
 * binds its ports seconds after they were chosen, and an outgoing connection may hold them by then.
 */
export function firstServicePort(): number {
  return 20_000 + (process.pid % 1_000) * 10
}

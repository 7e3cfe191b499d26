export { httpBodies } from './bodies.ts'
export type { HttpFault } from './faults.ts'
export type { FaultyService } from './faultyService.ts'

export { tronBodies } from './bodies.ts'
export { encodeTransaction, type SubmittedContract } from './transactions.ts'
export { type FacadeSettings, startTronFacade } from './tronFacade.ts'
export {
  createTronLedger,
  type EvmBehind,
  type KnownTransaction,
  type Submitted,
  type TronLedger,
} from './tronLedger.ts'

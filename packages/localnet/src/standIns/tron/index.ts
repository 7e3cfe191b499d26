export { tronBodies } from './bodies.ts'
export { encodeTransaction, type SubmittedContract } from './transactions.ts'
export {
  createTronLedger,
  type EvmBehind,
  type FacadeSettings,
  type KnownTransaction,
  type Submitted,
  startTronFacade,
  type TronLedger,
} from './tronFacade.ts'

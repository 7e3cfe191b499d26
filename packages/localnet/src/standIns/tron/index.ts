export { tronBodies } from './bodies.ts'
export { createTronKnowledge, type KnownTransaction, type TronPrices } from './knowledge.ts'
export { encodeTransaction, type SubmittedContract } from './transactions.ts'
export { type FacadeSettings, startTronFacade } from './tronFacade.ts'
export {
  createTronLedger,
  type EvmBackend,
  type Submitted,
  type TronLedger,
} from './tronLedger.ts'

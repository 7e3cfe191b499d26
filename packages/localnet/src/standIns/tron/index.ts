export { encodeTransaction, type SubmittedContract } from './transactions.ts'
export {
  createTronLedger,
  type FacadeSettings,
  type Submitted,
  startTronFacade,
  type TronLedger,
} from './tronFacade.ts'

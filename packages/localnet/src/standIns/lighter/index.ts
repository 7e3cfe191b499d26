export { lighterBodies, renderTransferInfo } from './bodies.ts'
export {
  type Answer,
  type Fault,
  type LighterNode,
  type StoredTransaction,
  startLighterNode,
  type TransferInfo,
} from './lighterNode.ts'

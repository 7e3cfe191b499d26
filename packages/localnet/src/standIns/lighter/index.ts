export {
  type Answer,
  type Fault,
  type LighterNode,
  renderTransferInfo,
  type StoredTransaction,
  startLighterNode,
  type TransferInfo,
} from './lighterNode.ts'

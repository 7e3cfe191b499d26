export { lighterBodies, renderTransferInfo, type StoredTransaction, type TransferInfo } from './bodies.ts'
export { createLighterExchange, type HashTransfer, type LighterExchange } from './lighterExchange.ts'
export { type Answer, type Fault, type LighterNode, startLighterNode } from './lighterNode.ts'

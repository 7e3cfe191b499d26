export { solanaBodies } from './bodies.ts'
export { type ClusterEvent, clusterEventSchema } from './clusterEvent.ts'
export {
  createTokenAccount,
  type Depository,
  depositNative,
  depositToken,
  executeTransfer,
  forwardInstruction,
  initialiseMint,
  memo,
  mintBytes,
  mintTo,
  tokenAccount,
  transfer,
  transferChecked,
  transferNative,
} from './instructions.ts'
export { deployDepository, programBytes } from './programs.ts'
export { startRpcServer } from './rpcServer.ts'
export { SolanaNode } from './solanaNode.ts'

export { solanaBodies } from './bodies.ts'
export { deployDepository } from './deployDepository.ts'
export {
  createTokenAccount,
  type Depository,
  depositNative,
  depositToken,
  executeTransfer,
  forwarded,
  initialiseMint,
  memo,
  mintBytes,
  mintTo,
  tokenAccount,
  transfer,
  transferChecked,
  transferNative,
} from './instructions.ts'
export { programBytes } from './programBytes.ts'
export { startRpcServer } from './rpcServer.ts'
export { SolanaNode } from './solanaNode.ts'

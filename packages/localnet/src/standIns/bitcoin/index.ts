export { type BitcoinApi, type BitcoinNode, startBitcoinNode } from './bitcoinNode.ts'
export { bitcoinBodies } from './bodies.ts'
export {
  blockBytes,
  ConstructedChain,
  fundingTransaction,
  merkleBlock,
  timeAt,
  transactionOf,
} from './constructedChain.ts'
export { keyOf, keyOfSecret, regtest, type TestKey } from './keys.ts'

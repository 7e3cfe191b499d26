export { type BitcoinApi, type BitcoinNode, startBitcoinNode } from './bitcoinNode.ts'
export { bitcoinBodies } from './bodies.ts'
export {
  blockBytes,
  ConstructedChain,
  funded,
  merkleBlock,
  timeAt,
  transactionOf,
} from './constructedChain.ts'
export { keyOf, keyOfSecret, regtest, type TestKey } from './keys.ts'

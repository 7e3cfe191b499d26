export { type BitcoinApi, type BitcoinNode, startBitcoinNode } from './bitcoinNode.ts'
export { bitcoinBodies } from './bodies.ts'
export { ConstructedChain, merkleBlock, timeAt } from './constructedChain.ts'
export { keyOf, regtest, type TestKey } from './keys.ts'

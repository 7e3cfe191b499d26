export { type BitcoinApi, type BitcoinNode, startBitcoinNode } from './bitcoinNode.ts'
export { bitcoinBodies } from './bodies.ts'
export { ConstructedChain, funded, merkleBlock, timeAt, transactionOf } from './constructedChain.ts'
export { keyOf, regtest, type TestKey } from './keys.ts'

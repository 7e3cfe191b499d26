// Opens one chain of a family, as a service does, and says which libraries of families that loaded.
import { createRequire } from 'node:module'
import { openFamilyChain } from '@causeway/chains'
import { Secret, viemLibrary } from '@causeway/core'
import { bitcoinLibrary, solanaLibrary } from '@causeway/families/rules'
import type { ReadableChain } from '../../packages/families/src/shared/familyChain.ts'

const shared = {
  id: 'chain',
  hubChainId: '7',
  network: undefined,
  unsetVariables: [],
  additionalData: {},
  endpoints: [new Secret('http://127.0.0.1:1')],
  ready: true,
  rpcThreshold: 1,
}
const chains: Readonly<Record<string, ReadableChain>> = {
  ethereum: { ...shared, vmType: 'ethereum-vm', depository: `0x${'11'.repeat(20)}` },
  bitcoin: { ...shared, vmType: 'bitcoin-vm', depository: '1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4av' },
  solana: { ...shared, vmType: 'solana-vm', depository: 'ComputeBudget111111111111111111111111111111' },
  tron: { ...shared, vmType: 'tron-vm', depository: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
}
/** Files that only the named library contains. */
const marks = {
  'bitcoinjs-lib': '/bitcoinjs-lib/',
  '@solana/web3.js': '/bn.js/',
  // Its parts are loaded as ES modules, which this cache names by what asked for them.
  viem: '/viemParts.ts',
  tronweb: '/tronweb/',
}

const [, , name = ''] = process.argv
const chain = chains[name]
if (chain !== undefined) {
  const opened = openFamilyChain(chain, { finalEntriesMax: 0 })
  // Nothing answers there, so nothing is read that needs a library.
  await opened.verify(AbortSignal.timeout(1)).catch(() => undefined)
  await opened.close()
} else if (name === 'used') {
  bitcoinLibrary()
  solanaLibrary()
  viemLibrary()
}
const loaded = Object.keys(createRequire(import.meta.url).cache)
const found = Object.entries(marks).filter(([, mark]) => loaded.some((path) => path.includes(mark)))
process.stdout.write(JSON.stringify(found.map(([library]) => library)))

// Goal: an entry for an account without a key is written by what the oracles signed for exactly it, on this
// hub, once. Method: as deployed, on a real node; every attack is a call that must revert.

import { genericMappingAbi } from '@causeway/contracts'
import { bytesToHex, type Hex, type MappingEntry } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import { concatHex, encodeFunctionData } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HubDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startHubBench } from './support/contractBench.ts'

let bench: ContractBench<HubDeployment>
let anyone: LocalAccount
beforeAll(async () => {
  bench = await startHubBench()
  anyone = bench.keys.fillWallet
})
afterAll(() => bench?.stop())

let made = 0
function freshEntry(): MappingEntry {
  made += 1
  const word = (first: string): Hex => `0x${first}${made.toString(16).padStart(62, '0')}`
  return { user: freshAccount().address, id: word('1d'), data: '0x01', nonce: word('0e') }
}

type Signing = {
  readonly domain?: { readonly chainId?: number; readonly verifyingContract?: Hex }
  readonly signers?: readonly LocalAccount[]
}

/** Signatures one after the other, ascending by signer; by default of two of the three oracles. */
async function signed(entry: MappingEntry, { domain = {}, signers }: Signing = {}): Promise<Hex> {
  const { chainId, genericMapping } = bench.deployment
  const own = { chainId, verifyingContract: genericMapping, ...domain }
  const hash = bytesToHex(signingDigest({ purpose: 'mapping-entry', domain: own, entry }))
  const ascending = [...(signers ?? bench.keys.oracles.slice(0, 2))].sort((a, b) =>
    BigInt(a.address) < BigInt(b.address) ? -1 : 1,
  )
  return concatHex(
    await Promise.all(ascending.map(({ privateKey }) => sign({ hash, privateKey, to: 'hex' }))),
  )
}

function setEntry({ user, id, data, nonce }: MappingEntry, signature: Hex, oracle?: Hex): Hex {
  const args = [user, id, data, nonce, oracle ?? bench.deployment.oracleMultisig, signature] as const
  return encodeFunctionData({ abi: genericMappingAbi, functionName: 'setEntry', args })
}

const refusal = (data: Hex) => bench.revert(anyone, bench.deployment.genericMapping, data)

async function readEntry({ user, id }: MappingEntry) {
  return bench.chain.client.readContract({
    address: bench.deployment.genericMapping,
    abi: genericMappingAbi,
    functionName: 'getEntry',
    args: [user, id],
  })
}

test('anybody brings what the quorum signed, once for the account and the id', async () => {
  const entry = freshEntry()
  await bench.send(anyone, bench.deployment.genericMapping, setEntry(entry, await signed(entry)))
  const { timestamp } = await bench.chain.client.getBlock()
  expect(await readEntry(entry)).toEqual(['0x01', timestamp])
  expect(await refusal(setEntry(entry, await signed(entry)))).toBe('NonceUsed')
  const again = { ...entry, nonce: freshEntry().nonce }
  expect(await refusal(setEntry(again, await signed(again)))).toBe('EntryExists')
  const elsewhere = { ...freshEntry(), nonce: entry.nonce }
  expect(await refusal(setEntry(elsewhere, await signed(elsewhere)))).toBe('NonceUsed')
})

test.each<[string, Signing]>([
  ['another hub', { domain: { chainId: 1 } }],
  ['another mapping', { domain: { verifyingContract: `0x${'bb'.repeat(20)}` } }],
  ['nobody', { signers: [] }],
])('what was signed for or by %s writes nothing', async (_what, signing) => {
  const entry = freshEntry()
  expect(await refusal(setEntry(entry, await signed(entry, signing)))).toBe('InvalidSignature')
})

test('one oracle of two, or a stranger beside one, writes nothing', async () => {
  const [one] = bench.keys.oracles
  if (one === undefined) throw new Error('no oracle')
  const entry = freshEntry()
  for (const signers of [[one], [one, anyone]]) {
    expect(await refusal(setEntry(entry, await signed(entry, { signers })))).toBe('InvalidSignature')
  }
  expect(await refusal(setEntry(entry, await signed(entry, { signers: [anyone] }), anyone.address))).toBe(
    'UnauthorizedOracle',
  )
})

test('no member of a signed entry can be changed', async () => {
  const entry = freshEntry()
  const signature = await signed(entry)
  const { user, id, nonce } = freshEntry()
  for (const change of [{ user }, { id }, { nonce }, { data: '0x02' }] as const) {
    expect(await refusal(setEntry({ ...entry, ...change }, signature))).toBe('InvalidSignature')
  }
})

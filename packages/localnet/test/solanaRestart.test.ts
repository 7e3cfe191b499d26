// Goal: the stand-in of Solana is after a restart what it was before: services that read it see no other chain.
// Method: opened, moved by every kind of event and closed, then opened again on its file; what clients read is compared.
import { randomBytes } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { familyFunding } from '../src/families/familyFunding.ts'
import { familyDepositories } from '../src/families/familyPlans.ts'
import { openSolana } from '../src/families/solanaStandIn.ts'
import type { StandInOptions } from '../src/families/standIn.ts'
import { generateLocalKeys } from '../src/keys/generateKeys.ts'
import { askNode } from '../src/nodes/askNode.ts'
import { networkFolder } from './support/networkBench.ts'

const deployed = `0x${'11'.repeat(20)}` as const
const depository = familyDepositories(deployed).solana

async function openOn(journalFile: string, funding: StandInOptions['funding']) {
  const standIn = await openSolana({
    port: 0,
    depository,
    funding,
    journalFile,
    tronDepository: deployed,
    tronUsdc: deployed,
    node: { url: 'http://127.0.0.1:1', chainId: 1 },
    depositor: { address: deployed, privateKey: `0x${'22'.repeat(32)}` },
    tronCreatedFromMs: undefined,
    hashTransfer: undefined,
  })
  onTestFinished(() => standIn.stop().catch(() => undefined))
  const ask = (method: string, ...params: readonly unknown[]) => askNode(standIn.url, method, params)
  return { standIn, ask }
}

it('O-33: a restarted Solana has its blocks, transactions and accounts, and those of the time between', async () => {
  const file = join(await networkFolder(), 'solana.jsonl')
  const funding = familyFunding(generateLocalKeys(() => `0x${randomBytes(32).toString('hex')}`))
  const first = await openOn(file, funding)
  const { transactionId } = await first.standIn.deposit(7_000_000n, 'somebody')
  const wallet = await first.standIn.placeWallet?.('plain')
  const head = Number(await first.ask('getSlot'))
  const read = async ({ ask }: Pick<typeof first, 'ask'>) => ({
    genesis: await ask('getGenesisHash'),
    blockhash: (await ask('getLatestBlockhash')) as { value: { blockhash: string } },
    // The newest that somebody may have seen final, and an empty one of the clock.
    blocks: await Promise.all([head, head - 1].map((slot) => ask('getBlock', slot, shown))),
    deposit: await ask('getTransaction', transactionId, shown),
    signatures: await ask('getSignaturesForAddress', depository),
    accounts: await ask('getMultipleAccounts', [wallet, funding.solana.grants[0]?.address], base64),
  })
  const before = await read(first)
  await first.standIn.stop()
  // A kill can leave a torn last line.
  await appendFile(file, '[{"bytes":"AAA')

  const second = await openOn(file, funding)
  const after = await read(second)
  const placed = (facts: typeof before) => (facts.accounts as { value: unknown }).value
  expect({ ...after, blockhash: after.blockhash.value.blockhash, accounts: placed(after) }).toEqual({
    ...before,
    blockhash: before.blockhash.value.blockhash,
    accounts: placed(before),
  })
  expect(await second.standIn.deposit(7_000_000n, 'somebody')).toEqual({ transactionId })
  const newest = Number(await second.ask('getSlot'))
  expect(newest).toBeGreaterThanOrEqual(head)
  for (let slot = head; slot <= newest; slot += 1)
    expect(await second.ask('getBlock', slot, shown)).toHaveProperty('blockhash')
  await second.standIn.deposit(8_000_000n, 'somebody else')
  await second.standIn.stop()

  const third = await openOn(file, funding)
  expect(await third.ask('getTransaction', transactionId, shown)).toEqual(before.deposit)
})

const base64 = { encoding: 'base64' }
const shown = { ...base64, maxSupportedTransactionVersion: 0, commitment: 'finalized' }

// Goal: what a quote says of an account of a token is what becomes of the payment: it is refused before a price, or it is
// paid and an oracle attests it. Attackers: a recipient who sets a rule on his account, so that a fill is quoted and never
// lands. Method: Token-2022 in the real runtime; accounts are placed with the extensions that their owners can set.
import type { Hex } from '@causeway/core'
import { token2022Program } from '@causeway/families/rules'
import { placeSolanaWallet, placeTokenHolder, type SolanaWalletName } from '@causeway/localnet/wallets'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QuotingChain } from '../../packages/families/src/shared/quotingChain.ts'
import { solanaQuotingChain } from '../../packages/families/src/solana/quoting/solanaQuotingChain.ts'
import { solanaHeadTracking } from '../../packages/families/src/solana/reading/requests.ts'
import { type ChainClient, createJsonRpcClient } from '../../packages/rpc/src/client.ts'
import { bid, type FillWalletBed, startFillWalletBed, walletKey } from './solanaSupport/fillWalletBed.ts'
import { aSignal, readerOf } from './solanaSupport/solanaBed.ts'

let cluster: FillWalletBed
let client: ChainClient
let quoting: QuotingChain
const mint = Keypair.generate().publicKey
const wallet = Keypair.fromSeed(Buffer.from(walletKey.slice(2), 'hex')).publicKey
let count = 0

beforeAll(async () => {
  cluster = await startFillWalletBed()
  const { node, url } = cluster.bed
  const authority = Buffer.concat([Buffer.of(1, 0, 0, 0), wallet.toBuffer()])
  const supply = Buffer.alloc(8)
  supply.writeBigUInt64LE(10n ** 12n)
  const data = Buffer.concat([authority, supply, Buffer.of(6, 1), authority])
  node.place(mint.toBase58(), { owner: token2022Program, data })
  placeTokenHolder(node, { mint, of: wallet, amount: 10n ** 9n })
  client = createJsonRpcClient({
    chainId: 'solana',
    endpoints: [{ url }],
    headTracking: solanaHeadTracking,
  })
  quoting = solanaQuotingChain.open({
    client,
    multicall3: undefined,
    currentHead: () => undefined,
    now: () => Date.now(),
    budgetMs: 5_000,
    neededWithinMs: 5_000,
    onFailure: () => {},
  })
})
afterAll(async () => {
  await client?.close()
  await cluster?.stop()
})

function freshId(): Hex {
  count += 1
  return `0x${count.toString(16).padStart(64, 'e')}`
}

async function payTo(recipient: string) {
  const payer = cluster.openWallet()
  const id = freshId()
  const payments = [{ recipient, currency: mint.toBase58(), amount: 77n }]
  const plan = await payer.plan({ id, orderId: id, mark: 'paid', payments }, bid)
  if ('refusal' in plan) return { id, refusal: plan.refusal }
  const signed = await payer.sign(plan, bid)
  await payer.broadcast(signed)
  return { id, transactionId: signed.hash, payments }
}

const recipientOf = (name: SolanaWalletName) => placeSolanaWallet(cluster.bed.node, name, { mint })

describe('an account of a Token-2022 token', () => {
  const paid = ['plain', 'memo', 'memo-off', 'guard', 'confidential-and-open'] as const
  test.each(paid)('F-60, Q-61: %s is paid and attested', async (name) => {
    const recipient = recipientOf(name)
    expect(await quoting.lackOf(recipient, mint.toBase58())).toEqual({})
    const { id, transactionId = '', payments = [] } = await payTo(recipient)
    const { reader } = readerOf(cluster.bed)
    const question = { transactionId, orderId: id, extraData: '0x', payments } as const
    expect(await reader.readPayment(question, aSignal())).toMatchObject({
      referencesOrder: true,
      transfers: [{ recipient, currency: mint.toBase58(), amount: 77n }],
    })
  })

  test.each([
    ['frozen', 'has a frozen account of the token'],
    ['handed-on', 'has handed its account of the token on to somebody else'],
    ['confidential', 'takes confidential transfers of the token alone'],
  ] as const)('Q-61: %s is refused, and by the payer too', async (name, refusal) => {
    const recipient = recipientOf(name)
    expect(await quoting.lackOf(recipient, mint.toBase58())).toEqual({ refusal })
    expect(await payTo(recipient)).toMatchObject({ refusal: `the recipient ${refusal}` })
  })
})

describe('an account that is no wallet', () => {
  test.each<[string, () => string]>([
    ['a sysvar', () => 'SysvarC1ock11111111111111111111111111111111'],
    ['an account with a key that belongs to a program', () => mint.toBase58()],
  ])('Q-61: %s has code', async (_what, account) => {
    expect(await quoting.hasCode(account())).toBe(true)
  })
})

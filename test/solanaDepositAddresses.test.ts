// Goal: whoever can only make a plain payment on Solana, from an exchange or any wallet, is served by the shipped service
// and the shipped solver: what he pays to the address of his order is swept, filled, or goes back to him. Who gains by
// breaking it: a user who pays little and is filled for much, an endpoint that shows a payment that there is not, a denied
// account that pays through an address, and whoever has one user's payment deposited for another. Method: both services,
// PostgreSQL, stand-in oracles, the programs as operators deploy them on the real runtime behind three endpoints.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytes32Text, type Hex, hexText } from '@causeway/core'
import {
  deriveProgramAddresses,
  libraryInstruction,
  solanaDepositAddress,
  solanaLibrary,
  withdrawAddress,
} from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import { createTokenAccount, tokenAccount, transfer } from '@causeway/localnet/standIns/solana'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  post,
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
  send,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { bytesOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { createSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { type ReceivedBed, type SolanaCurrency, startReceivedBed } from './support/receivedBed.ts'
import { sol, solanaChainId } from './support/solanaService.ts'
import { instructionsOf } from './support/solanaSettling.ts'

const { Keypair, PublicKey, SystemProgram } = solanaLibrary()
const patienceMs = 60_000
const termsSchema = z.object({
  orderSigner: hexText(20),
  sweeper: z.string(),
  depositor: z.string(),
  nonce: bytes32Text,
})
let bed: ReceivedBed
/** Whom orders refund, and whom the operator does not serve. */
const [depositor, denied] = [Keypair.generate(), Keypair.generate()]
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-denied-'))
  const listFile = join(directory, 'deny.json')
  const list = { version: 1, denied: { 'solana-vm': [denied.publicKey.toBase58()] } }
  await writeFile(listFile, JSON.stringify(list))
  bed = await startReceivedBed({ DENY_LIST_FILE: listFile })
  bed.at.solana.bed.node.airdrop(denied.publicKey.toBase58(), 10n ** 10n)
  await bed.openAccount(depositor.publicKey.toBase58(), 'SOL')
  for (const currency of ['USDC', 'WETH'] as const)
    await bed.openAccount(depositor.publicKey.toBase58(), currency)
}, 240_000)
afterAll(async () => {
  await bed?.stop()
  await rm(directory, { recursive: true, force: true })
}, 60_000)

const recipient = (): Hex => userOf(bed.at.solana.network, 3).address
const dollars = () => currencyAddress(bed.at.solana.network, 'base', 'USDC')
const received = () => bed.ownedOnEvm('base', recipient(), dollars() as Hex) // CAST: a token of an EVM chain.

const asked = (currency: SolanaCurrency, more: object = {}) => ({
  user: depositor.publicKey.toBase58(),
  recipient: recipient(),
  refundTo: depositor.publicKey.toBase58(),
  originChainId: solanaChainId,
  originCurrency: bed.addressOf(currency),
  tradeType: 'EXACT_INPUT',
  amount: currency === 'SOL' ? '100000000' : '20000000',
  destinationChainId: 8453,
  destinationCurrency: dollars(),
  useDepositAddress: true,
  ...more,
})

type AddressedQuote = QuoteAnswer & { readonly address: string }

async function quoteOf(
  currency: SolanaCurrency,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<AddressedQuote> {
  const body = asked(currency, more)
  const quote = readOk(await postPatiently(`${bed.at.solana.url}/quote`, body, headers), quoteResponseSchema)
  const [step] = quote.steps
  const address = step?.kind === 'transaction' ? step.depositAddress : undefined
  if (address === undefined || address === '') throw new Error('the quote has no address')
  return { ...quote, address }
}

/** Payment as an exchange makes it. */
async function pay(
  { address }: { readonly address: string },
  currency: SolanaCurrency,
  amount: bigint,
  by?: typeof denied,
) {
  const payer = by ?? (await bed.solanaUser(currency))
  const [from, owner] = [payer.publicKey, new PublicKey(address)]
  if (currency === 'SOL') {
    const sending = SystemProgram.transfer({ fromPubkey: from, toPubkey: owner, lamports: amount })
    await bed.at.solana.bed.send([sending], { signers: [payer] })
    return payer
  }
  const { mint, program } = bed.tokenOf(currency)
  const [own, to] = [from, owner].map((one) => tokenAccount(one, mint, program))
  if (own === undefined || to === undefined) throw new Error('both have an account')
  await bed.at.solana.bed.send(
    [
      createTokenAccount({ payer: from, owner, mint, program }),
      transfer({ from: own, to, mint, authority: from, amount, program }),
    ],
    { signers: [payer] },
  )
  return payer
}

const vault = () => bed.at.solana.bed.depository.addresses.vault
const reaches = async (quote: QuoteAnswer, status: string) => {
  const read = () => bed.at.requests.statusOf(quote)
  await waitUntil(`${quote.requestId} is ${status}`, async () => (await read()).status === status, {
    patienceMs,
    circumstances: async () => `${JSON.stringify(await read())} ${bed.solver.output().slice(-2_000)}`,
  })
}
const leftReasonOf = async (quote: QuoteAnswer) => {
  const [row] = await bed.at.database.query<{ left_reason: string | null }>(
    'select left_reason from deposit_address where request_id = $1',
    [bytesOf(quote.requestId)],
  )
  return row?.left_reason
}

describe('a payment to a deposit address on Solana', () => {
  test('is quoted as one step that a wallet can send, and the address has no key', async () => {
    const quote = await quoteOf('SOL')
    expect(quote.steps).toHaveLength(1)
    expect(quote.steps[0]).toMatchObject({ id: 'deposit', depositAddress: quote.address })
    expect(PublicKey.isOnCurve(new PublicKey(quote.address).toBytes())).toBe(false)
    const before = await received()
    await bed.at.solana.bed.send(instructionsOf(quote), { signers: [depositorWithCoin()] })
    await reaches(quote, 'success')
    expect((await received()) - before).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
  })

  test.each([
    ['SOL', 100_000_000n],
    ['USDC', 20_000_000n],
    ['WETH', 20_000_000n],
  ] as const)(
    'Q-107: of %s as quoted is swept into the depository as a whole, filled, and told as its user’s transfer',
    async (currency, amount) => {
      const quote = await quoteOf(currency)
      const [before, deposited] = [await received(), bed.owned(vault(), currency)]
      const payer = await pay(quote, currency, amount)
      await reaches(quote, 'success')
      const told = await bed.at.requests.transferOf(quote)
      expect(told).toMatchObject({
        depositor: payer.publicKey.toBase58(),
        depositTxHash: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/),
      })
      // Not the sweep, which is what the depository was paid with.
      expect((await bed.at.requests.statusOf(quote)).inTxHashes).not.toContain(told?.depositTxHash)
      expect((await received()) - before).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
      expect(bed.owned(vault(), currency) - deposited).toBe(amount)
      expect(bed.owned(quote.address, currency)).toBe(0n)
    },
  )

  test('of another amount, and a later one, is quoted anew for what arrived', async () => {
    const quote = await quoteOf('SOL')
    await pay(quote, 'SOL', 60_000_000n)
    await reaches(quote, 'success')
    await pay(quote, 'SOL', 80_000_000n)
    await waitUntil('a later payment is swept too', () => bed.owned(quote.address, 'SOL') === 0n, {
      patienceMs,
    })
  })

  test('of too little for a strict one goes back to whom the order refunds, less what that costs', async () => {
    const quote = await quoteOf('USDC', { strict: true })
    const before = bed.owned(depositor.publicKey.toBase58(), 'USDC')
    await pay(quote, 'USDC', 15_000_000n)
    await waitUntil('it is swept', () => bed.owned(quote.address, 'USDC') === 0n, { patienceMs })
    // Until its quote expires, another deposit may still come.
    await bed.at.database.query(
      `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await reaches(quote, 'refund')
    const back = bed.owned(depositor.publicKey.toBase58(), 'USDC') - before
    expect(back).toBeGreaterThan(14_000_000n)
    expect(back).toBeLessThan(15_000_000n)
  })

  test('in another listed currency is given back, and what it paid beside it is filled', async () => {
    const quote = await quoteOf('SOL')
    const before = bed.owned(depositor.publicKey.toBase58(), 'USDC')
    await pay(quote, 'USDC', 9_000_000n)
    await waitUntil('it is swept', () => bed.owned(quote.address, 'USDC') === 0n, { patienceMs })
    await waitUntil('it goes back', () => bed.owned(depositor.publicKey.toBase58(), 'USDC') > before, {
      patienceMs,
    })
    await pay(quote, 'SOL', 100_000_000n)
    await waitUntil('the other one is swept as well', () => bed.owned(quote.address, 'SOL') === 0n, {
      patienceMs,
    })
  })

  test('that one endpoint alone shows is no payment', async () => {
    const quote = await quoteOf('SOL', { strict: true })
    const [endpoint] = bed.at.endpoints
    await endpoint?.set({
      kind: 'lie',
      rewrite: (call, result) =>
        call.method !== 'getMultipleAccounts'
          ? result
          : {
              ...Object(result),
              value: Object(result).value.map((account: unknown, at: number) =>
                Object(call.params)[0]?.[at] === quote.address
                  ? {
                      lamports: 100_000_000,
                      owner: sol,
                      executable: false,
                      data: ['', 'base64'],
                      rentEpoch: 0,
                    }
                  : account,
              ),
            },
    })
    await sleep(4_000)
    expect(await bed.at.requests.openWork(quote, 'sweep')).toBeUndefined()
    expect(await leftReasonOf(quote)).toBeNull()
    await endpoint?.set({ kind: 'pass' })
    await pay(quote, 'SOL', 100_000_000n)
    await reaches(quote, 'success')
  })

  test('F-5: of somebody who is denied stays, whoever pays behind him', async () => {
    const quote = await quoteOf('SOL')
    await pay(quote, 'SOL', 100_000_000n, denied)
    await pay(quote, 'SOL', 1_000_000n)
    await waitUntil('it is left', async () => (await leftReasonOf(quote)) === 'BLOCKED_WALLET', {
      patienceMs,
    })
    expect(await bed.at.requests.openWork(quote, 'sweep')).toBeUndefined()
    expect(bed.owned(quote.address, 'SOL')).toBe(101_000_000n)
  })

  test('F-5: behind more small payments than one look reads is served all the same', async () => {
    const quote = await quoteOf('SOL')
    const sender = await pay(quote, 'SOL', 900_000n)
    for (let sent = 0; sent < 201; sent += 1) await pay(quote, 'SOL', BigInt(sent + 1), sender)
    await pay(quote, 'SOL', 100_000_000n, sender)
    await reaches(quote, 'success')
  })

  test('Q-216: too small for its own sweep stays, and is told; its depositor takes it back alone', async () => {
    const quote = await quoteOf('SOL')
    await pay(quote, 'SOL', 900_000n)
    await waitUntil('it is left', async () => (await leftReasonOf(quote)) === 'AMOUNT_TOO_LOW_TO_REFUND', {
      patienceMs,
    })
    const program = bed.at.solana.bed.addressProgram.toBase58()
    const depository = bed.at.solana.bed.depository.program.toBase58()
    const addresses = { program: depository, addresses: deriveProgramAddresses(depository) }
    const [step] = quote.steps
    const terms = step && 'depositTerms' in step ? termsSchema.parse(step.depositTerms) : undefined
    if (terms === undefined) throw new Error('the step tells its terms')
    const made = solanaDepositAddress(terms, { program, depository: addresses })
    expect(made.address).toBe(quote.address)
    const caller = depositor.publicKey.toBase58()
    const taking = withdrawAddress({ program, depository: addresses }, made, { caller, token: undefined })
    await bed.at.solana.bed.send([libraryInstruction(taking)], { signers: [depositorWithCoin()] })
    expect(bed.owned(quote.address, 'SOL')).toBe(0n)
  })

  test('is looked up by the key that had it quoted, by its address as it is spelled, and looked at when that key asks', async () => {
    const sponsor = await createSponsor(bed.at.database, 1_000_000_000n)
    const headers = { 'x-api-key': sponsor.apiKey }
    const quote = await quoteOf('USDC', {}, headers)
    const told = (query: string) => send(`${bed.at.solana.url}/deposit-addresses/v1?${query}`, { headers })
    for (const query of [`address=${quote.address}`, `requestId=${quote.requestId}`]) {
      const found = await told(query)
      expect([found.status, JSON.parse(found.text)]).toMatchObject([200, { depositAddress: quote.address }])
    }
    // Capitals count: another spelling is another address, which nobody made.
    expect((await told(`address=${quote.address.toLowerCase()}`)).status).toBe(404)
    const body = { chainId: solanaChainId, depositAddress: quote.address }
    const looked = await post(`${bed.at.solana.url}/transactions/deposit-address/reindex`, body, headers)
    expect([looked.status, JSON.parse(looked.text)]).toMatchObject([200, { checkedCurrencies: 3 }])
  })

  test('is sponsored as other quotes by deposit address are', async () => {
    const sponsor = await createSponsor(bed.at.database, 1_000_000_000n)
    const quote = await quoteOf('USDC', { subsidizeFees: true }, { 'x-api-key': sponsor.apiKey })
    expect(BigInt(quote.fees.subsidized.amount)).toBeGreaterThan(0n)
    const before = await received()
    await pay(quote, 'USDC', 20_000_000n)
    await reaches(quote, 'success')
    expect((await received()) - before).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
  })
})

/** The depositor with coin for a payment and its fees. */
function depositorWithCoin() {
  bed.at.solana.bed.node.airdrop(depositor.publicKey.toBase58(), 10n ** 9n)
  return depositor
}

describe('a quote by deposit address on Solana is refused', () => {
  test.each([
    ['where nobody is refunded', { user: sol, refundTo: sol }, 'refundTo'],
    ['for an exact output of an open one', { tradeType: 'EXACT_OUTPUT', amount: '3000000' }, 'tradeType'],
  ])('%s', async (_what, more, field) => {
    const answer = await post(`${bed.at.solana.url}/quote`, asked('SOL', more))
    expect(answer.status).toBe(400)
    const { errorData } = readError(answer)
    expect(JSON.parse(String(errorData))).toMatchObject({ field })
  })
})

// Requests of the quote document by what is special about them, and their answers in the shapes of the document.
import type { Hex } from '@causeway/core'
import { type LocalAccount, waitUntil } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { z } from 'zod'
import { post, postPatiently, readOk, send } from '../../../apps/quote-api/test/serviceSupport/callService.ts'
import { type LocalRequest, localRequest } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  errorShape,
  type Price,
  priceShape,
  type Quote,
  quoteShape,
  type Refusal,
  recordShape,
} from './quoteShapes.ts'
import type { QuoteWorld } from './quoteWorld.ts'

/** By default 100 USDC from Base to Optimism by a user of the network. */
export type Wish = Partial<LocalRequest>
export type Headers = Readonly<Record<string, string>>

/** Before and behind the credited address. */
export const marker = '012345abcdef'

export const bodyOf = ({ network }: QuoteWorld, wish: Wish = {}): object =>
  localRequest(network, { amount: 100_000_000n, ...wish })

export async function price(world: QuoteWorld, wish: Wish = {}): Promise<Price> {
  return readOk(await postPatiently(`${world.urls.publicUrl}/price`, bodyOf(world, wish)), priceShape)
}

/** For a user of its own: quotes that are open count against each other. */
export async function quote(world: QuoteWorld, wish: Wish = {}, headers: Headers = {}): Promise<Quote> {
  return quoteOf(world, bodyOf(world, ofNewUser(wish)), headers)
}

/** For a body that is none of the usual ones, e.g. to Solana. */
export async function quoteOf(world: QuoteWorld, body: object, headers: Headers = {}): Promise<Quote> {
  return readOk(await postPatiently(`${world.urls.publicUrl}/quote`, body, headers), quoteShape)
}

/**
 * Two answers of one market, to be compared: gas has its price of the moment, and a busy node is not waited for when it
 * is asked what a user has. So both are asked twice in turn, until each answers the same again: once would not do,
 * because a price that rises for one block comes back to where it was.
 */
export async function ofOneMarket<One extends Priced, Other extends Priced>(
  one: () => Promise<One>,
  other: () => Promise<Other>,
): Promise<readonly [One, Other]> {
  const same = (first: Priced, second: Priced) => JSON.stringify(first.fees) === JSON.stringify(second.fees)
  for (;;) {
    const [before, between] = [await one(), await other()]
    const [after, last] = [await one(), await other()]
    if (same(before, after) && same(between, last)) return [after, last]
  }
}
type Priced = { readonly fees: object }

/** The refusal of a request. @throws when it is not refused, or its body is not that of the document */
export async function refusalOf(
  world: QuoteWorld,
  path: string,
  body: object,
  headers: Headers = {},
): Promise<Refusal> {
  const { status, text } = await postPatiently(`${world.urls.publicUrl}${path}`, body, headers)
  if (status < 400) throw new Error(`${path} is answered with ${status}: ${text.slice(0, 300)}`)
  return { status, ...errorShape.parse(JSON.parse(text)) }
}

/** A user who has nothing and is new to the service: no request of one test counts in another. */
export function newUser(): Hex {
  return privateKeyToAccount(generatePrivateKey()).address
}

export function newWallet(): LocalAccount {
  const privateKey = generatePrivateKey()
  return { privateKey, address: privateKeyToAccount(privateKey).address }
}

/** A request of somebody new. */
export function ofNewUser(wish: Wish = {}): Wish {
  const user = newUser()
  return { ...wish, more: { user, recipient: user, ...wish.more } }
}

export type Sponsor = { readonly headers: Headers; readonly keyId: string; readonly wallet: LocalAccount }

const keySchema = z.object({ id: z.string(), apiKey: z.string() })
const challengeSchema = z.object({ message: z.string(), nonce: z.string() })

/** A key as its provider makes it. */
export async function newKey({
  urls,
}: QuoteWorld): Promise<{ readonly id: string; readonly headers: Headers }> {
  const { status, text } = await post(`${urls.adminUrl}/admin/keys`, { label: 'acceptance' })
  expect(status, text).toBe(201)
  const { id, apiKey } = keySchema.parse(JSON.parse(text))
  return { id, headers: { 'x-api-key': apiKey } }
}

/** Signs the ownership message of a key by a wallet. @returns the status of the link */
export async function linkWallet(
  { urls }: QuoteWorld,
  headers: Headers,
  { wallet, signer = wallet }: { readonly wallet: LocalAccount; readonly signer?: LocalAccount },
): Promise<number> {
  const place = `${urls.publicUrl}/sponsorship/wallets`
  const challenge = await post(`${place}/challenge`, { wallet: wallet.address }, headers)
  const { message, nonce } = readOk(challenge, challengeSchema)
  const signature = await privateKeyToAccount(signer.privateKey).signMessage({ message })
  return (await post(`${place}/link`, { wallet: wallet.address, nonce, signature }, headers)).status
}

/** A key, a wallet linked to it, and money on the wallet's balance. */
export async function newSponsor(world: QuoteWorld, amountMicroUsd: bigint): Promise<Sponsor> {
  const { id, headers } = await newKey(world)
  const wallet = newWallet()
  expect(await linkWallet(world, headers, { wallet })).toBe(200)
  await deposit(world, { amountMicroUsd, tail: `${marker}${wallet.address.slice(2)}${marker}` })
  await waitUntil(
    'the top-up counts',
    async () => (await balanceOf(world, wallet.address)) === amountMicroUsd,
  )
  return { headers, keyId: id, wallet }
}

/**
 * The token transfer of a top-up on Base, final at once.
 * @param tail hex digits behind the calldata of the transfer; default: none
 * @param to default: the address that the service publishes
 * @returns its calldata
 */
export async function deposit(
  { network }: QuoteWorld,
  {
    amountMicroUsd,
    tail = '',
    from,
    to,
  }: {
    readonly amountMicroUsd: bigint
    readonly tail?: string
    readonly from?: LocalAccount
    readonly to?: Hex
  },
): Promise<Hex> {
  const { keys, deployment, chains } = network
  const args = [to ?? keys.custody.address, amountMicroUsd] as const
  const data: Hex = `${encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })}${tail}`
  await chains.base.chain.send(from ?? keys.sponsor, [
    { what: 'deposit', to: deployment.base.tokens.USDC, data },
  ])
  await network.mine('base', 3)
  return data
}

export async function recordOf({ urls }: QuoteWorld, wallet: string) {
  return readOk(await send(`${urls.publicUrl}/app-fees/${wallet}/balances`), recordShape)
}

/** The spendable balance of a wallet, in micro-dollars. */
export async function balanceOf(world: QuoteWorld, wallet: string): Promise<bigint> {
  return BigInt((await recordOf(world, wallet)).amount)
}

/** Held of it by open requests. */
export async function heldOf(world: QuoteWorld, wallet: string): Promise<bigint> {
  return BigInt((await recordOf(world, wallet)).held.amount)
}

const healthShape = z.object({
  chains: z.array(
    z.looseObject({
      chainId: z.number(),
      readAgeMs: z.number().optional(),
      head: z.looseObject({ number: z.coerce.bigint() }).optional(),
    }),
  ),
})

/**
 * Waits until prices follow every block that is there: two readings of each EVM chain after the call. Answers that are
 * compared then differ by their requests alone.
 */
export async function settled({ network, urls }: QuoteWorld): Promise<void> {
  for (const { chain } of [network.chains.base, network.chains.optimism]) {
    const head = await chain.client.getBlockNumber()
    for (const reading of ['first', 'second']) {
      const askedAtMs = performance.now()
      await waitUntil(`the ${reading} reading of chain ${chain.chainId} is there`, async () => {
        const { chains } = readOk(await send(`${urls.publicUrl}/prices/health`), healthShape)
        const told = chains.find(({ chainId }) => chainId === chain.chainId)
        const isNew = (told?.readAgeMs ?? Number.POSITIVE_INFINITY) < performance.now() - askedAtMs
        return isNew && (told?.head?.number ?? 0n) >= head
      })
    }
  }
}

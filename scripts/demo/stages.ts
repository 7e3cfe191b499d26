import type { Hex } from '@causeway/core'
import { encodeTopUp, solanaLibrary } from '@causeway/families/rules'
import { connectLocalChain } from '@causeway/localnet'
import { z } from 'zod'
import type { DemoNetwork } from './network.ts'

/** One stage of the life of a request. @returns what its line says */
export type Stage = { readonly name: string; readonly run: () => Promise<string> }

/** Tells the stage that did not come. */
export class StageFailure extends Error {}

const stageTimeoutMs = 60_000
const pollMs = 100
/** As many oracles as the hub asks for. */
export const quorum = 2
const topUpMicroUsd = 1_000_000n
const paidAmount = '25000000'

const balanceSchema = z.object({ amount: z.string() })
const quoteSchema = z.object({
  requestId: z.string(),
  steps: z.array(
    z.object({
      id: z.string(),
      items: z.array(z.object({ data: z.object({ to: z.string(), data: z.string(), value: z.string() }) })),
    }),
  ),
  feeSponsorship: z.object({
    status: z.string(),
    quoted: z.object({
      components: z.object({
        rent: z.object({ sponsored: z.object({ amount: z.string(), amountUsd: z.string() }) }),
      }),
    }),
  }),
  details: z.object({ currencyOut: z.object({ amountFormatted: z.string() }) }),
  protocol: z.object({
    v2: z.object({ orderId: z.string(), orderData: z.unknown(), orderSignature: z.string() }),
  }),
})
const statusSchema = z.object({
  status: z.string(),
  inTxHashes: z.array(z.string()),
  txHashes: z.array(z.string()),
})
const historySchema = z.object({
  requests: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      data: z.looseObject({
        feeSponsorship: z
          .looseObject({ actual: z.looseObject({ sponsorPayment: z.unknown() }).optional() })
          .optional(),
      }),
    }),
  ),
})

/** Fill of a request, for the withdrawal of the solver's money. */
export type FilledRequest = {
  readonly order: unknown
  readonly orderId: string
  readonly orderSignature: string
  /** Deposit and fill. */
  readonly deposit: string
  readonly fill: string
}

/**
 * Life of one sponsored request on a running network, from the sponsor's top-up to its history.
 * @param to where it ends, by the chain's name in `network.json`
 * @param after stages that go on from the filled request
 */
export function demoStages(
  network: DemoNetwork,
  { custody, to }: { readonly custody: Hex; readonly to: string },
  after: (filled: () => FilledRequest) => readonly Stage[],
): readonly Stage[] {
  const demo = new SponsoredRequest(network, placesOf(network, to))
  return [
    { name: 'top-up seen', run: () => demo.topUp(custody) },
    { name: 'quoted', run: () => demo.quote() },
    { name: 'deposited', run: () => demo.deposit() },
    { name: 'pinned', run: () => demo.waitForPin() },
    { name: 'filled', run: () => demo.waitForFill() },
    { name: 'attested', run: () => demo.waitForSignatures() },
    { name: 'posted', run: () => demo.waitForPosting() },
    { name: 'history', run: () => demo.tellHistory() },
    ...after(() => demo.filled()),
  ]
}

/** Payer, chains, currencies and recipient of a request. @throws StageFailure where the network has no such way */
function placesOf({ accounts, chains, destinations }: DemoNetwork, to: string) {
  const [user] = accounts
  const base = chains.find(({ name }) => name === 'base')
  const destination = destinations.find(({ name }) => name === to)
  const [paid, received] = [base?.tokens['USDC'], destination?.tokens['USDC']]
  if (!destination || !received || destination.id === base?.id)
    throw new StageFailure(`nothing is quoted from base to ${to}`)
  if (!user || !base || !paid) throw new StageFailure('network.json is incomplete')
  return { user, base, paid, destination, received }
}

/** One request that a sponsor pays for, by the public API and the user's chain. */
class SponsoredRequest {
  readonly #network: DemoNetwork
  readonly #places: ReturnType<typeof placesOf>
  readonly #chain: ReturnType<typeof connectLocalChain>
  #quoted: z.infer<typeof quoteSchema> | undefined
  #depositHash = ''
  #fillHash = ''

  constructor(network: DemoNetwork, places: ReturnType<typeof placesOf>) {
    this.#network = network
    this.#places = places
    this.#chain = connectLocalChain(places.base.rpcUrl, places.base.id)
  }

  async topUp(custody: Hex): Promise<string> {
    const { wallet: address, walletPrivateKey: privateKey } = this.#network.sponsor
    const before = await this.#balance()
    const { to, data } = encodeTopUp({
      token: this.#places.paid,
      custody,
      amountMicroUsd: topUpMicroUsd,
    })
    await this.#chain.send({ address, privateKey }, [{ what: 'top-up', to, data }])
    await until(async () => (await this.#balance()) >= before + topUpMicroUsd)
    return `the sponsor's balance grew by ${topUpMicroUsd} micro-USDC`
  }

  async #balance(): Promise<bigint> {
    const path = `/app-fees/${this.#network.sponsor.wallet}/balances`
    return BigInt((await this.#ask(path, balanceSchema)).amount)
  }

  async quote(): Promise<string> {
    const { user, base, paid, destination, received } = this.#places
    const quoted = await this.#ask('/quote', quoteSchema, {
      user: user.address,
      recipient: recipientOf(received, user.address),
      tradeType: 'EXACT_INPUT',
      amount: paidAmount,
      originChainId: base.id,
      destinationChainId: destination.id,
      originCurrency: paid,
      destinationCurrency: received,
      subsidizeFees: true,
      subsidizeRent: true,
      includeProtocolData: true,
    })
    this.#quoted = quoted
    if (quoted.feeSponsorship.status !== 'full') throw new StageFailure('the sponsor does not pay')
    const { amount, amountUsd } = quoted.feeSponsorship.quoted.components.rent.sponsored
    const rent = BigInt(amount) > 0n ? `, ${amountUsd} USD of rent paid by the sponsor` : ''
    return `request ${quoted.requestId}, ${quoted.details.currencyOut.amountFormatted} USDC to receive on ${destination.name}${rent}`
  }

  async deposit(): Promise<string> {
    const items = this.#request().steps.flatMap(({ id, items: all }) =>
      all.map(({ data }) => ({ id, ...data })),
    )
    await this.#chain.send(
      this.#places.user,
      items.map(({ id, to, data, value }) => ({
        // CAST: steps hold addresses and calldata.
        what: id,
        to: to as Hex,
        data: data as Hex,
        valueWei: BigInt(value),
      })),
    )
    return items.map(({ id }) => id).join(' and ')
  }

  async waitForPin(): Promise<string> {
    await until(async () => {
      const { status, inTxHashes } = await this.#status()
      this.#depositHash = inTxHashes[0] ?? ''
      return status !== 'waiting' && this.#depositHash !== ''
    })
    return `deposit ${this.#depositHash}`
  }

  async waitForFill(): Promise<string> {
    await until(async () => {
      const { status, txHashes } = await this.#status()
      if (status === 'refund' || status === 'failure')
        throw new StageFailure(`the request ended as ${status}`)
      this.#fillHash = txHashes[0] ?? ''
      return status === 'success'
    })
    return `fill ${this.#fillHash}`
  }

  #status() {
    return this.#ask(`/intents/status/v3?requestId=${this.#request().requestId}`, statusSchema)
  }

  async waitForSignatures(): Promise<string> {
    const body = { chainId: 'base', transactionId: this.#depositHash, requestPeerSignatures: true }
    const url = `${this.#network.oracles[0]?.url}/attestations/depository-deposits/v1`
    let signatures = 0
    await until(async () => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      await response.arrayBuffer()
      signatures = response.ok ? Number(response.headers.get('x-quorum-matched')) : 0
      return signatures >= quorum
    })
    return `${signatures} oracles signed the deposit`
  }

  async waitForPosting(): Promise<string> {
    let actual: unknown
    await until(async () => {
      actual = (await this.#shown())?.data.feeSponsorship?.actual?.sponsorPayment
      return actual !== undefined && actual !== null
    })
    return `the fill is attested by quorum and the sponsor debited: ${JSON.stringify(actual)}`
  }

  async tellHistory(): Promise<string> {
    const shown = await this.#shown()
    return `status ${shown?.status}, balance ${await this.#balance()} micro-USDC`
  }

  /** As its history has it. */
  async #shown() {
    const { requests } = await this.#ask(`/requests/v2?id=${this.#request().requestId}`, historySchema)
    return requests[0]
  }

  filled(): FilledRequest {
    const { orderId, orderData, orderSignature } = this.#request().protocol.v2
    return { order: orderData, orderId, orderSignature, deposit: this.#depositHash, fill: this.#fillHash }
  }

  #request(): z.infer<typeof quoteSchema> {
    if (this.#quoted === undefined) throw new StageFailure('there is no quote')
    return this.#quoted
  }

  async #ask<Value>(path: string, schema: z.ZodType<Value>, body?: object): Promise<Value> {
    const { quoteApi, sponsor } = this.#network
    const response = await fetch(`${quoteApi.url}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'x-api-key': sponsor.apiKey, 'content-type': 'application/json' },
    })
    const json: unknown = await response.json()
    if (!response.ok) throw new StageFailure(`${response.status} ${JSON.stringify(json)}`)
    return schema.parse(json)
  }
}

/** The user himself where addresses have one form, else a new wallet, which has no account of the token yet. */
function recipientOf(token: string, user: string): string {
  return token.startsWith('0x') ? user : solanaLibrary().Keypair.generate().publicKey.toBase58()
}

/** @throws StageFailure when it never is */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + stageTimeoutMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new StageFailure(`not within ${stageTimeoutMs / 1_000} s`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

import { encodeTopUp, type Hex, solanaLibrary } from '@causeway/core'
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

/** What the solver did for a request, for whoever takes the solver's money out. */
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
  const { quoteApi, sponsor, accounts } = network
  const [user] = accounts
  const base = network.chains.find(({ name }) => name === 'base')
  const destination = network.destinations.find(({ name }) => name === to)
  const [usdcOnBase, usdcThere] = [base?.tokens['USDC'], destination?.tokens['USDC']]
  if (!destination || !usdcThere || destination.id === base?.id)
    throw new StageFailure(`nothing is quoted from base to ${to}`)
  if (!user || !base || !usdcOnBase) throw new StageFailure('network.json is incomplete')
  const recipient = recipientOf(usdcThere, user.address)
  const chain = connectLocalChain(base.rpcUrl, base.id)
  const headers = { 'x-api-key': sponsor.apiKey, 'content-type': 'application/json' }
  const ask = async <Value>(path: string, schema: z.ZodType<Value>, body?: object): Promise<Value> => {
    const response = await fetch(path.startsWith('http') ? path : `${quoteApi.url}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers,
    })
    const json: unknown = await response.json()
    if (!response.ok) throw new StageFailure(`${response.status} ${JSON.stringify(json)}`)
    return schema.parse(json)
  }
  const balance = async () =>
    BigInt((await ask(`/app-fees/${sponsor.wallet}/balances`, balanceSchema)).amount)
  const status = (id: string) => ask(`/intents/status/v3?requestId=${id}`, statusSchema)
  let quoted: z.infer<typeof quoteSchema> | undefined
  let depositHash = ''
  let fillHash = ''
  const request = () => {
    if (quoted === undefined) throw new StageFailure('there is no quote')
    return quoted
  }

  return [
    {
      name: 'top-up seen',
      async run() {
        const before = await balance()
        const { to, data } = encodeTopUp({ token: usdcOnBase, custody, amountMicroUsd: topUpMicroUsd })
        const from = { address: sponsor.wallet, privateKey: sponsor.walletPrivateKey }
        await chain.send(from, [{ what: 'top-up', to, data }])
        await until(async () => (await balance()) >= before + topUpMicroUsd)
        return `the sponsor's balance grew by ${topUpMicroUsd} micro-USDC`
      },
    },
    {
      name: 'quoted',
      async run() {
        quoted = await ask('/quote', quoteSchema, {
          ...{ user: user.address, recipient, tradeType: 'EXACT_INPUT', amount: paidAmount },
          ...{ originChainId: base.id, destinationChainId: destination.id },
          ...{ originCurrency: usdcOnBase, destinationCurrency: usdcThere },
          ...{ subsidizeFees: true, subsidizeRent: true, includeProtocolData: true },
        })
        if (quoted.feeSponsorship.status !== 'full') throw new StageFailure('the sponsor does not pay')
        const { amount, amountUsd } = quoted.feeSponsorship.quoted.components.rent.sponsored
        const rent = BigInt(amount) > 0n ? `, ${amountUsd} USD of rent paid by the sponsor` : ''
        return `request ${quoted.requestId}, ${quoted.details.currencyOut.amountFormatted} USDC to receive on ${to}${rent}`
      },
    },
    {
      name: 'deposited',
      async run() {
        const items = request().steps.flatMap(({ id, items: all }) =>
          all.map(({ data }) => ({ id, ...data })),
        )
        await chain.send(
          user,
          items.map(({ id, to, data, value }) => ({
            // CAST: steps hold addresses and calldata.
            ...{ what: id, to: to as Hex, data: data as Hex, valueWei: BigInt(value) },
          })),
        )
        return items.map(({ id }) => id).join(' and ')
      },
    },
    {
      name: 'pinned',
      async run() {
        await until(async () => {
          const { status: state, inTxHashes } = await status(request().requestId)
          depositHash = inTxHashes[0] ?? ''
          return state !== 'waiting' && depositHash !== ''
        })
        return `deposit ${depositHash}`
      },
    },
    {
      name: 'filled',
      async run() {
        await until(async () => {
          const { status: state, txHashes } = await status(request().requestId)
          if (state === 'refund' || state === 'failure')
            throw new StageFailure(`the request ended as ${state}`)
          fillHash = txHashes[0] ?? ''
          return state === 'success'
        })
        return `fill ${fillHash}`
      },
    },
    {
      name: 'attested',
      async run() {
        const body = { chainId: 'base', transactionId: depositHash, requestPeerSignatures: true }
        const url = `${network.oracles[0]?.url}/attestations/depository-deposits/v1`
        let signatures = 0
        await until(async () => {
          const response = await fetch(url, {
            ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
            body: JSON.stringify(body),
          })
          await response.arrayBuffer()
          signatures = response.ok ? Number(response.headers.get('x-quorum-matched')) : 0
          return signatures >= quorum
        })
        return `${signatures} oracles signed the deposit`
      },
    },
    {
      name: 'posted',
      async run() {
        let actual: unknown
        await until(async () => {
          const { requests } = await ask(`/requests/v2?id=${request().requestId}`, historySchema)
          actual = requests[0]?.data.feeSponsorship?.actual?.sponsorPayment
          return actual !== undefined && actual !== null
        })
        return `the fill is attested by quorum and the sponsor debited: ${JSON.stringify(actual)}`
      },
    },
    {
      name: 'history',
      async run() {
        const { requests } = await ask(`/requests/v2?id=${request().requestId}`, historySchema)
        return `status ${requests[0]?.status}, balance ${await balance()} micro-USDC`
      },
    },
    ...after(() => {
      const { orderId, orderData, orderSignature } = request().protocol.v2
      return { order: orderData, orderId, orderSignature, deposit: depositHash, fill: fillHash }
    }),
  ]
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

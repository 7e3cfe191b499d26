// A user of the service, and what the service and its database say of the user's requests.
import type { Hex, SqlDatabase } from '@causeway/core'
import { depositoryAbi, type LocalAccount, type TestNetwork, waitUntil } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { quoteResponseSchema } from '../../src/http/wire/quoteResponse.ts'
import { requestsV3Schema } from '../../src/http/wire/requestsV3.ts'
import { askAgainAfterMs } from '../../src/requests/settlement/fills/settleDecision.ts'
import { statusV3Schema } from '../../src/requests/status/statusWire.ts'
import { postPatiently, type QuoteAnswer, readOk, send } from '../serviceSupport/callService.ts'
import { type LocalRequest, localRequest, nativeAddress, userOf } from '../serviceSupport/localRequest.ts'
import { transactionsOf } from '../serviceSupport/transactionsOf.ts'
import type { TestSponsor } from '../sponsorSupport/sponsors.ts'
import type { OpenWork, ScriptedSolver } from './scriptedSolver.ts'

export type RequestDriver = ReturnType<typeof createRequestDriver>

/** All requests go from base to optimism and are paid by the network's first user. */
export function createRequestDriver(parts: {
  readonly network: TestNetwork
  readonly database: SqlDatabase
  readonly url: string
  readonly solver: ScriptedSolver
}) {
  const { network, database, url, solver } = parts
  const { base } = network.chains
  const user = userOf(network, 0)

  async function statusOf({ requestId }: QuoteAnswer) {
    return readOk(await send(`${url}/intents/status/v3?requestId=${requestId}`), statusV3Schema)
  }

  /** The deposit address of a request, as `/requests/v3` shows it. */
  async function transferOf({ requestId }: QuoteAnswer) {
    const { requests } = readOk(await send(`${url}/requests/v3?id=${requestId}`), requestsV3Schema)
    return requests[0]?.depositAddress
  }

  async function settlementOf({ requestId }: QuoteAnswer) {
    const [row] = await database.query<{
      stage: string
      attempts: number
      parked_reason: string | null
      evidence: unknown
    }>('select stage, attempts, parked_reason, evidence from settlement where request_id = $1', [
      bytesOf(requestId),
    ])
    return row
  }

  /** Details of a request that a wait shows when its time ran out. */
  const circumstancesOf = (quote: QuoteAnswer) => ({
    circumstances: async () =>
      JSON.stringify([await statusOf(quote), await settlementOf(quote), await workOf(quote)]),
  })

  /** Kind and state of all its work, also of what is done. */
  function workOf({ requestId }: QuoteAnswer) {
    return database.query<{ kind: OpenWork['kind']; state: string }>(
      'select kind, state from work_item where request_id = $1',
      [bytesOf(requestId)],
    )
  }

  async function openWork(quote: QuoteAnswer, kind: OpenWork['kind']): Promise<OpenWork | undefined> {
    return (await solver.work()).find((item) => item.kind === kind && item.requestId === quote.requestId)
  }

  return {
    user,
    solver,
    statusOf,
    transferOf,
    settlementOf,
    openWork,
    stageOf: async (quote: QuoteAnswer) => (await settlementOf(quote))?.stage,

    /** As if the oracles had been asked again often enough: a contradiction parks at once. */
    async contradictedBefore({ requestId }: QuoteAnswer): Promise<void> {
      await database.query(
        'update settlement set contradictions = $2, next_at = now() where request_id = $1',
        [bytesOf(requestId), askAgainAfterMs.length],
      )
    },

    /** A quote whose fees the sponsor pays. */
    async quoted(sponsor: TestSponsor, request: LocalRequest): Promise<QuoteAnswer> {
      const more = { subsidizeFees: true, ...request.more }
      const body = localRequest(network, { ...request, more })
      const headers = { 'x-api-key': sponsor.apiKey }
      return readOk(await postPatiently(`${url}/quote`, body, headers), quoteResponseSchema)
    },

    /** Sends the steps of a quote as the user's wallet would. */
    async execute(quote: QuoteAnswer): Promise<void> {
      const transactions = transactionsOf(quote).map(({ id, to, data, value }) => ({
        // CAST: steps hold addresses and calldata, which the wire describes as text.
        what: id,
        to: to as Hex,
        data: data as Hex,
        valueWei: BigInt(value),
      }))
      await base.chain.send(user, transactions)
    },

    /** Deposits whatever it is told, for an order. */
    async deposit(quote: QuoteAnswer, what: { token?: Hex; amount: bigint }): Promise<void> {
      await base.chain.send(user, depositTransactions(network, user, { ...what, id: orderIdOf(quote) }))
    },

    async reaches(quote: QuoteAnswer, status: string): Promise<void> {
      const isSo = async () => (await statusOf(quote)).status === status
      await waitUntil(`it is ${status}`, isSo, circumstancesOf(quote))
    },
    async reachesStage(quote: QuoteAnswer, stage: string): Promise<void> {
      const isSo = async () => (await settlementOf(quote))?.stage === stage
      await waitUntil(`it is ${stage}`, isSo, circumstancesOf(quote))
    },

    /** It is asked for, or already done: a solver that runs beside the test may be faster than it. */
    async workBegins(quote: QuoteAnswer, kind: OpenWork['kind']): Promise<void> {
      const isThere = async () => (await workOf(quote)).some((item) => item.kind === kind)
      await waitUntil(`a ${kind} begins`, isThere, { pollMs: 250, ...circumstancesOf(quote) })
    },

    async workFor(quote: QuoteAnswer, kind: OpenWork['kind']): Promise<OpenWork> {
      let found: OpenWork | undefined
      const isThere = async () => {
        found = await openWork(quote, kind)
        return found !== undefined
      }
      await waitUntil(`there is a ${kind}`, isThere, circumstancesOf(quote))
      if (found === undefined) throw new Error('there is no such work')
      return found
    },
  }
}

export function orderIdOf(quote: QuoteAnswer): Hex {
  const id = quote.protocol?.v2.orderId
  if (id === undefined) throw new Error('the quote has no order')
  // CAST: the wire describes an order id as text.
  return id as Hex
}

export const debitOf = (quote: QuoteAnswer) => BigInt(quote.fees.subsidized.amount)

export const bytesOf = (requestId: string) => Buffer.from(requestId.slice(2), 'hex')

function depositTransactions(
  { deployment }: TestNetwork,
  user: LocalAccount,
  deposit: { token?: Hex; amount: bigint; id: Hex },
) {
  const { depository, tokens } = deployment.base
  const { token = tokens.USDC, amount, id } = deposit
  if (token === nativeAddress) {
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositNative',
      args: [user.address, id],
    })
    return [{ what: 'deposit', to: depository, data, valueWei: amount }]
  }
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [depository, amount] })
  const data = encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositErc20',
    args: [user.address, token, amount, id],
  })
  return [
    { what: 'approve', to: token, data: approve },
    { what: 'deposit', to: depository, data },
  ]
}

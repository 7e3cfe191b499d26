// Random requests of users, from the quote to their end, and what chains, history and ledger say of them then.
import type { Hex, SqlDatabase } from '@causeway/core'
import { concatHex, erc20Abi, getCreate2Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { z } from 'zod'
import type { Random } from '../../packages/localnet/test/support/random.ts'
import type { SessionBed, UserChain } from './sessionBed.ts'

const nativeCurrency: Hex = `0x${'0'.repeat(40)}`
const endStatuses = ['success', 'refund']
const endMs = 300_000
const pollMs = 250
/** More than two refreshes of the market. */
const marketSeesMs = 3_000

const amountSchema = z.object({ amount: z.string() })
const quoteSchema = z.object({
  requestId: z.string(),
  steps: z.array(
    z.object({
      id: z.string(),
      items: z.array(z.object({ data: z.object({ to: z.string(), data: z.string(), value: z.string() }) })),
    }),
  ),
  details: z.object({
    currencyOut: z.object({ amount: z.string(), minimumAmount: z.string() }),
    currencyGasTopup: amountSchema.optional(),
  }),
  protocol: z.object({ v2: z.object({ orderId: z.string() }) }),
})
const statusSchema = z.object({ status: z.string() })

export type Wish = {
  readonly userIndex: number
  readonly from: UserChain
  readonly to: UserChain
  readonly isDoomed: boolean
  /**
   * Target of a call that must fail: an account during the simulation, and a contract that reverts every call
   * afterwards.
   */
  readonly called: { readonly address: Hex; readonly salt: Hex }
  /** Pays in one currency and gets another, so that a pool is moved. */
  readonly swaps: boolean
  readonly maxSubsidyMicroUsd: bigint | undefined
  readonly recipient: Hex
  readonly receives: Hex
  readonly body: Readonly<Record<string, unknown>>
}

/** One request as it was quoted, and how it ended. */
export type Life = {
  readonly wish: Wish
  readonly quote: z.infer<typeof quoteSchema>
  readonly status: string
  /** From the deposit to the first status that knows of it. */
  readonly unseenMs: number
}

/** A cross-chain request that a user might send; about `doomedShare` of them can never be filled. */
export function drawWish(bed: SessionBed, random: Random, { doomedShare = 0 } = {}): Wish {
  const { deployment, keys } = bed.session.network
  const pick = <Value>(...values: [Value, ...Value[]]): Value =>
    values[random.integer(0, values.length - 1)] ?? values[0]
  const [from, to] = pick<[UserChain, UserChain]>(['base', 'optimism'], ['optimism', 'base'])
  const isDoomed = random.unit() < doomedShare
  const kinds = ['USDC', 'USDX', 'native'] as const
  const pays = pick(...kinds)
  // Calls come with requests in one currency only.
  const gets = isDoomed ? pays : pick<(typeof kinds)[number]>(pays, pays, ...kinds)
  const tradeType = isDoomed ? 'EXACT_OUTPUT' : pick('EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT')
  const measured = tradeType === 'EXACT_INPUT' ? pays : gets
  const usdCents = random.magnitude(500n, 20_000n)
  const amount = measured === 'native' ? (usdCents * 10n ** 18n) / 250_000n : usdCents * 10n ** 4n
  const addressOf = (chain: UserChain, kind: (typeof kinds)[number]) =>
    kind === 'native' ? nativeCurrency : deployment[chain].tokens[kind]
  const userIndex = random.integer(0, keys.users.length - 1)
  const recipient = freshAddress()
  const called = refusingContract(generatePrivateKey())
  const isSponsored = random.unit() < 0.6
  const maxSubsidyMicroUsd = isSponsored && random.unit() < 0.5 ? random.between(1_000n, 300_000n) : undefined
  const receives = addressOf(to, gets)
  return {
    userIndex,
    from,
    to,
    isDoomed,
    called,
    swaps: pays !== gets,
    maxSubsidyMicroUsd,
    recipient,
    receives,
    body: {
      user: keys.users[userIndex]?.address,
      recipient,
      tradeType,
      amount: amount.toString(),
      originChainId: deployment[from].chainId,
      destinationChainId: deployment[to].chainId,
      originCurrency: addressOf(from, pays),
      destinationCurrency: receives,
      ...(isSponsored && { subsidizeFees: true }),
      ...(maxSubsidyMicroUsd !== undefined && { maxSubsidizationAmount: maxSubsidyMicroUsd.toString() }),
      ...(random.unit() < 0.3 && { appFees: [{ recipient: keys.users[0]?.address, fee: '40' }] }),
      ...(random.unit() < 0.2 && gets !== 'native' && { topupGas: true, topupGasAmount: '500000' }),
      ...(isDoomed && { txs: [{ to: called.address, value: '0', data: '0xdeadbeef' }] }),
    },
  }
}

/** Address of the public factory, which local chains have too: same salt, same address. */
const create2Factory: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
/** Leaves a contract of one byte that refuses whatever it is called with. */
const refusingInitCode: Hex = '0x60fe60005360016000f3'

/** By a transaction, which a reorganization may take away and bring back like any other. */
function refusingContract(salt: Hex): Wish['called'] {
  return { salt, address: getCreate2Address({ from: create2Factory, salt, bytecode: refusingInitCode }) }
}

const freshAddress = () => privateKeyToAddress(generatePrivateKey())

export type RequestLives = {
  /** Quotes, executes and waits for the end; `undefined` when the service refuses the wish. */
  live(wish: Wish): Promise<Life | undefined>
  received(life: Life): Promise<{ readonly amount: bigint; readonly native: bigint }>
}

/**
 * @param options.isPatient an unreachable service or node is asked again: somebody is killing it
 * @param options.onRefusal given the answer to a wish that is not quoted
 */
export function createRequestLives(
  bed: SessionBed,
  options: { isPatient: boolean; quoteMs?: number; onRefusal?: (wish: Wish, answer: unknown) => void },
): RequestLives {
  const { session, url } = bed
  const { chains, keys } = session.network
  const turns = new Map<string, Promise<unknown>>()

  /** Serialises the transactions of one user on one chain, whose nonces must follow each other. */
  async function inTurn(key: string, send: () => Promise<void>): Promise<void> {
    const before = turns.get(key) ?? Promise.resolve()
    const turn = before.catch(() => {}).then(send)
    turns.set(key, turn)
    return turn
  }

  async function ask(
    path: string,
    body?: object,
    patienceMs = endMs,
  ): Promise<{ status: number; json: unknown }> {
    const giveUpAtMs = Date.now() + patienceMs
    for (;;) {
      try {
        const response = await fetch(`${url}${path}`, {
          ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
          headers: { 'content-type': 'application/json', 'x-api-key': session.sponsorApiKey ?? '' },
          signal: AbortSignal.timeout(10_000),
        })
        const json: unknown = await response.json()
        const isLast = !options.isPatient || (patienceMs < endMs && Date.now() > giveUpAtMs)
        if (response.status < 500 || isLast) return { status: response.status, json }
      } catch (error) {
        if (!options.isPatient) throw error
      }
      if (Date.now() > giveUpAtMs) throw new Error(`${path} is not answered in time`)
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }

  async function execute({ userIndex, from }: Wish, quote: Life['quote']): Promise<void> {
    const user = keys.users[userIndex]
    if (user === undefined) throw new Error(`no user ${userIndex}`)
    const transactions = quote.steps.flatMap(({ id, items }) =>
      items.map(({ data }) => ({
        // CAST: steps hold addresses and calldata.
        what: id,
        to: data.to as Hex,
        data: data.data as Hex,
        valueWei: BigInt(data.value),
      })),
    )
    await inTurn(`${from} ${userIndex}`, () => chains[from].chain.send(user, transactions))
  }

  async function createRefusing({ userIndex, to, called }: Wish): Promise<void> {
    const user = keys.users[userIndex]
    if (user === undefined) throw new Error(`no user ${userIndex}`)
    const data = concatHex([called.salt, refusingInitCode])
    const create = { what: 'a contract that refuses', to: create2Factory, data }
    await inTurn(`${to} ${userIndex}`, () => chains[to].chain.send(user, [create]))
  }

  return {
    async live(wish) {
      let quote: Life['quote'] | undefined
      let paidAtMs = 0
      const begin = async () => {
        const { status, json } = await ask('/quote', wish.body, options.quoteMs)
        if (status !== 200) return options.onRefusal?.(wish, json)
        quote = quoteSchema.parse(json)
        if (wish.isDoomed) await createRefusing(wish)
        await execute(wish, quote)
        paidAtMs = Date.now()
        // Until the market has seen the pool that this one moved.
        if (wish.swaps) await new Promise((resolve) => setTimeout(resolve, marketSeesMs))
      }
      // A swap that another user's comes before may revert, as its quote is for the pool as it was.
      await (wish.swaps ? inTurn(`swap on ${wish.from}`, begin) : begin())
      if (quote === undefined) return undefined
      const giveUpAtMs = Date.now() + endMs
      let last = ''
      let unseenMs: number | undefined
      while (Date.now() < giveUpAtMs) {
        const answer = await ask(`/intents/status/v3?requestId=${quote.requestId}`)
        last = statusSchema.parse(answer.json).status
        if (last !== 'waiting') unseenMs ??= Date.now() - paidAtMs
        if (endStatuses.includes(last)) return { wish, quote, status: last, unseenMs: unseenMs ?? 0 }
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
      const { json: timeline } = await ask(`/requests/${quote.requestId}/timeline`)
      throw new Error(
        `request ${quote.requestId} is ${last} and does not end in time: ${JSON.stringify({ ...wish.body, timeline })}`,
      )
    },
    async received({ wish: { to, recipient, receives } }) {
      const { client } = chains[to].chain
      const native = await client.getBalance({ address: recipient })
      if (receives === nativeCurrency) return { amount: native, native }
      const args = [recipient] as const
      const amount = await client.readContract({
        address: receives,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args,
      })
      return { amount, native }
    },
  }
}

/** Runs lives until `count` of them were quoted, some beside each other. */
export async function liveMany(
  bed: SessionBed,
  lives: RequestLives,
  options: { count: number; atOnce: number; random: Random; doomedShare?: number },
): Promise<readonly Life[]> {
  const done: Life[] = []
  let begun = 0
  let refused = 0
  const worker = async () => {
    while (begun < options.count) {
      begun += 1
      const life = await lives.live(drawWish(bed, options.random, options))
      if (life !== undefined) {
        done.push(life)
        continue
      }
      begun -= 1
      refused += 1
      if (refused > options.count) throw new Error('the service refuses more than it quotes')
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, worker))
  return done
}

/** Ledger entry of a request. */
export type Debit = {
  readonly stage: string
  readonly quotedMicroUsd: bigint
  readonly heldMicroUsd: bigint | undefined
  readonly debitedMicroUsd: bigint
  readonly posts: number
}

export async function debitOf(database: SqlDatabase, { quote }: Life): Promise<Debit> {
  const [row] = await database.query<{
    stage: string
    quoted: bigint | null
    held: bigint | null
    debited: bigint | null
    posts: bigint
  }>(
    `select s.stage, p.debit_micro_usd as quoted, max(h.amount) as held,
       sum(h.posted_amount)::numeric(39, 0) as debited, count(h.posted_amount) as posts
     from settlement s
     left join request_sponsorship p on p.request_id = s.request_id
     left join hold h on h.request_id = s.request_id
     where s.request_id = $1 group by s.stage, p.debit_micro_usd`,
    [Buffer.from(quote.requestId.slice(2), 'hex')],
  )
  if (row === undefined) throw new Error(`request ${quote.requestId} has no settlement`)
  return {
    stage: row.stage,
    quotedMicroUsd: row.quoted ?? 0n,
    heldMicroUsd: row.held ?? undefined,
    debitedMicroUsd: row.debited ?? 0n,
    posts: Number(row.posts),
  }
}

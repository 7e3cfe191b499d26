// Goal: a deposit that stands still comes back to its owner, and to nobody else: stuck on purpose, resolved, promised,
// entered on the hub, recovered, withdrawn by the depositor's signature, and money on chain. Method: the whole local
// network with its own solver, oracles and allocator; the owner runs the example of the guide.
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bytesToHex, type Hex, noFillOrRefundDigest } from '@causeway/core'
import { createDatabase, type Database, findEmbeddedPostgres } from '@causeway/database'
import { connectLocalChain, type LocalAccount, waitUntil } from '@causeway/localnet'
import { erc20Abi, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress, sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRequestAdministration } from '../apps/quote-api/src/operate/admin/requestAdministration.ts'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))
const amount = 60_000_000n
const longTest = 600_000
const textMap = z.record(z.string(), z.string())
const quoteSchema = z.object({
  requestId: z.string(),
  steps: z.array(
    z.object({
      id: z.string(),
      items: z.array(z.object({ data: z.object({ to: z.string(), data: z.string(), value: z.string() }) })),
    }),
  ),
  details: z.object({ refundCurrency: z.object({ amount: z.string() }) }),
  protocol: z.object({
    v2: z.object({
      orderData: z.object({
        inputs: z.tuple([z.object({ refunds: z.tuple([z.object({ recipient: z.string() })]) })]),
      }),
    }),
  }),
})
const addressedSchema = quoteSchema.extend({ steps: z.tuple([z.object({ depositAddress: z.string() })]) })
const statusSchema = z.object({ status: z.string(), refundFailReason: z.string() })
const workSchema = z.object({
  items: z.array(z.object({ id: z.string(), kind: z.string(), requestId: z.string().optional() })),
})
let bed: SessionBed
let database: Database
let solverDatabase: Database
let solverKey: string

beforeAll(async () => {
  bed = await startSessionBed()
  database = await bed.openDatabase()
  const connectionString = await findEmbeddedPostgres({
    dataDirectory: join(bed.directory, 'solver-postgres'),
  })
  solverDatabase = createDatabase({ connectionString: connectionString ?? '', poolSize: 1 })
  solverKey = (await environmentOf('quote-api'))['SOLVER_API_KEY'] ?? ''
}, 240_000)
afterAll(async () => {
  await solverDatabase?.close()
  await database?.close()
  await bed?.stop()
}, 60_000)

async function environmentOf(service: string): Promise<Readonly<Record<string, string>>> {
  return textMap.parse(JSON.parse(await readFile(bed.session.network.paths.serviceFile(service), 'utf8')))
}

const userOf = (index: number): LocalAccount => {
  const user = bed.session.network.keys.users[index]
  if (user === undefined) throw new Error(`no user ${index}`)
  return user
}

async function ask<Value>(path: string, schema: z.ZodType<Value>, body?: object): Promise<Value> {
  const response = await fetch(`${bed.url}${path}`, {
    headers: { 'content-type': 'application/json', 'x-api-key': solverKey },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  return schema.parse(await response.json())
}

const stopSolver = (isStopped: boolean) =>
  solverDatabase.query(
    `insert into stop_switch (is_stopped, reason) values ($1, 'test')
     on conflict (is_only) do update set is_stopped = $1`,
    [isStopped],
  )

/** The solver gives an item up, as often as it may. */
async function giveUp(requestId: string, kind: 'fill' | 'refund', attempts: number): Promise<void> {
  let id = ''
  await waitUntil(`there is a ${kind}`, async () => {
    const { items } = await ask('/solver/work', workSchema)
    id = items.find((item) => item.kind === kind && item.requestId === requestId)?.id ?? ''
    return id !== ''
  })
  await database.query('update work_item set attempts = $2 where id = $1', [id, attempts])
  await ask(`/solver/work/${id}/failed`, z.unknown(), { reason: 'on purpose' })
}

/** A request whose deposit stands still: nobody fills it, and nobody refunds it. */
async function stuck(user: LocalAccount): Promise<Hex> {
  await stopSolver(true)
  const { deployment, chains } = bed.session.network
  const { requestId, steps } = await ask('/quote', quoteSchema, {
    user: user.address,
    recipient: user.address,
    tradeType: 'EXACT_INPUT',
    amount: amount.toString(),
    originChainId: deployment.base.chainId,
    destinationChainId: deployment.optimism.chainId,
    originCurrency: deployment.base.tokens.USDC,
    destinationCurrency: deployment.optimism.tokens.USDC,
  })
  const chain = connectLocalChain(chains.base.url, deployment.base.chainId)
  const sent = steps.flatMap(({ id, items }) => items.map(({ data }) => ({ id, ...data })))
  await chain.send(
    user,
    sent.map(({ id, to, data, value }) => ({
      // CAST: steps hold addresses and calldata.
      what: id,
      to: to as Hex,
      data: data as Hex,
      valueWei: BigInt(value),
    })),
  )
  await giveUp(requestId, 'fill', 3)
  await giveUp(requestId, 'refund', 20)
  return parked(requestId)
}

/** The solver works again. */
async function parked(requestId: string): Promise<Hex> {
  await waitUntil('it is parked', async () => {
    const rows = await database.query(
      `select from settlement where stage = 'parked' and request_id = decode(substr($1, 3), 'hex')`,
      [requestId],
    )
    return rows.length > 0
  })
  await stopSolver(false)
  return requestId as Hex // CAST: the wire describes it as text.
}

/** Too little for any quote, paid to an address that was asked for as published pages do: they do not know who pays. */
async function paidByNobody(payer: LocalAccount): Promise<{ requestId: Hex; little: bigint }> {
  const { deployment, chains } = bed.session.network
  const [nobody, recipient] = [`0x${'0'.repeat(36)}dead`, privateKeyToAddress(generatePrivateKey())]
  // On the other chain alone: refunds do not default to it.
  const { node } = connectLocalChain(chains.optimism.url, deployment.optimism.chainId)
  await node.setCode({ address: recipient, bytecode: '0x00' })
  const coin = 10n ** 17n
  const asked = {
    user: nobody,
    recipient,
    tradeType: 'EXACT_INPUT',
    amount: coin.toString(),
    originChainId: deployment.base.chainId,
    destinationChainId: deployment.optimism.chainId,
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
    useDepositAddress: true,
  }
  let quote = await ask('/quote', addressedSchema, asked)
  await waitUntil('the code is seen', async () => {
    quote = await ask('/quote', addressedSchema, asked)
    return quote.protocol.v2.orderData.inputs[0].refunds[0].recipient === nobody
  })
  const { requestId, details, steps } = quote
  const little = 3n * (coin - BigInt(details.refundCurrency.amount))
  // CAST: the wire describes an address as text.
  const payment = {
    what: 'a payment',
    to: steps[0].depositAddress as Hex,
    data: '0x',
    valueWei: little,
  } as const
  await connectLocalChain(chains.base.url, deployment.base.chainId).send(payer, [payment])
  await database.query(
    `update orders set expires_at = now() - interval '1 minute' where request_id = decode(substr($1, 3), 'hex')`,
    [requestId],
  )
  await waitUntil('the solver says why it gives nothing back', async () =>
    /an account that nobody holds/.test(await standing(requestId as Hex)),
  )
  await stopSolver(true)
  await giveUp(requestId, 'refund', 20)
  return { requestId: await parked(requestId), little }
}

/** Resolved by an operator, and entered by the solver. */
async function recoverable(requestId: Hex): Promise<Hex> {
  const deed = { actor: 'cli:operator', reason: 'no refund can land' }
  await createRequestAdministration(database).resolve(requestId, 'recover', deed)
  await waitUntil(
    'the hub has it',
    async () => (await ask(`/intents/status/v3?requestId=${requestId}`, statusSchema)).status === 'failure',
    { patienceMs: 200_000, circumstances: () => standing(requestId) },
  )
  return requestId
}

/** Runs the example of the guide. */
async function runExample(requestId: Hex, ownerKey: Hex, recipient: Hex) {
  const { network } = bed.session
  const oracle = await environmentOf(oracleService().plan.name)
  const files = { owner: join(bed.directory, 'owner.key'), gas: join(bed.directory, 'gas.key') }
  await writeFile(files.owner, ownerKey)
  await writeFile(files.gas, network.keys.deployer.privateKey)
  const child = spawn(process.execPath, ['docs/guides/examples/recoverDeposit.ts', requestId], {
    cwd: repositoryRoot,
    env: {
      ...oracle,
      PATH: process.env['PATH'],
      ENVIRONMENT: 'local',
      QUOTE_API: bed.url,
      ORACLE_URL: oracleUrl(),
      PATIENCE_MS: '240000',
      OWNER_KEY_FILE: files.owner,
      GAS_KEY_FILE: files.gas,
      RECIPIENT: recipient,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

function oracleService() {
  const oracle = bed.session.services.find(({ plan }) => plan.name.startsWith('oracle'))
  if (oracle === undefined) throw new Error('no oracle runs')
  return oracle
}
const oracleUrl = () => `http://127.0.0.1:${oracleService().ports['http']}`

const standing = async (requestId: Hex) =>
  JSON.stringify(await createRequestAdministration(database).explain(requestId))

const passing: readonly unknown[] = ['RATE_LIMITED', 'HUB_NOT_FINAL', 'TRANSACTION_NOT_FINAL']

async function attest(path: string, body: object) {
  for (;;) {
    const response = await fetch(`${oracleUrl()}/attestations/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, requestPeerSignatures: true }),
    })
    const answer = z.record(z.string(), z.unknown()).parse(await response.json())
    if (!passing.includes(answer['errorCode'])) return { status: response.status, body: answer }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

const orderSchema = z.looseObject({ solver: z.string(), solverChainId: z.string() })
const requestsSchema = z.object({
  requests: z.array(
    z.object({
      protocol: z.object({
        v2: z.object({ orderId: z.string(), orderData: orderSchema, orderSignature: z.string() }),
      }),
      data: z.object({ inTxs: z.array(z.object({ txHash: z.string() })) }),
    }),
  ),
})
const depositsSchema = z.object({
  messages: z.array(z.object({ result: z.object({ onchainId: z.string() }) })),
})

/** The operator's list is rid of it, and its timeline says when its owner goes on. */
async function tellsTheDay(requestId: Hex): Promise<void> {
  const administration = createRequestAdministration(database)
  const listed = await administration.parked({ limit: 1_000 })
  expect(listed.map((parked) => parked.requestId)).not.toContain(requestId)
  const [recovery] = (await administration.explain(requestId)).recovery
  const waitMs = Date.parse(String(recovery?.['recoverableAt'])) - Date.now()
  expect(waitMs).toBeGreaterThan(0)
  expect(waitMs).toBeLessThanOrEqual(60_000)
  const status = await ask(`/intents/status/v3?requestId=${requestId}`, statusSchema)
  expect(status.refundFailReason).toBe('DEPOSIT_RECOVERABLE')
}

/** Whatever a service offers after the promise, as one with a changed database would. */
async function refusesToPay(requestId: Hex): Promise<void> {
  const set = (change: string) =>
    database.query(`alter table work_item ${change} trigger refuse_recovered_work_again`)
  const refund = `kind = 'refund' and request_id = decode(substr($1, 3), 'hex')`
  await set('disable')
  await database.query(
    `update work_item set state = 'open', attempts = 0, reason = null, not_before = now() where ${refund}`,
    [requestId],
  )
  await waitUntil('the solver refuses', async () => {
    const [row] = await database.query<{ reason: string | null }>(
      `select reason from work_item where ${refund}`,
      [requestId],
    )
    return row?.reason === 'the order is recovered on the hub'
  })
  await database.query(`update work_item set state = 'failed' where ${refund}`, [requestId])
  await set('enable')
}

/** Neither another key, another order nor another's deposit releases anything. */
async function refusesStrangers(requestId: Hex, thief: Hex): Promise<void> {
  const other = await stuck(userOf(4))
  const bodies = [requestId, other].map(async (id) => {
    const { requests } = await ask(`/requests/v3?id=${id}&includeOrderData=true`, requestsSchema)
    const [
      {
        protocol: { v2 },
        data,
      } = { protocol: { v2: undefined }, data: undefined },
    ] = requests
    const transactionId = data?.inTxs[0]?.txHash ?? ''
    const place = { chainId: 'base', transactionId }
    const { body } = await attest('depository-deposits/v1', place)
    const onchainId = depositsSchema.parse(body).messages[0]?.result.onchainId
    return {
      ...place,
      onchainId,
      order: v2?.orderData,
      orderSignature: v2?.orderSignature,
      orderId: v2?.orderId,
    }
  })
  const [own, others] = await Promise.all(bodies)
  const refusalOf = async ({ orderId: _id, ...body }: NonNullable<typeof own>) =>
    (await attest('recover/v1', body)).body['errorCode']
  if (own === undefined || others === undefined) throw new Error('two requests are stuck')
  const { order, orderSignature } = own
  expect(await refusalOf({ ...others, order, orderSignature })).toBe('DEPOSIT_ORDER_MISMATCH')
  expect(await refusalOf(others)).toBe('NO_FILL_PROMISE_MISSING')
  expect(await refusalOf(own)).toBe('RECOVERY_TOO_EARLY')
  // CAST: orders of EVM chains name EVM accounts, and 32 bytes.
  const promise = { solverChainId: 'base', solver: order?.solver as Hex, orderId: others.orderId as Hex }
  const digest = noFillOrRefundDigest(promise, bed.session.network.deployment.base.chainId)
  const signature = await sign({ hash: bytesToHex(digest), privateKey: thief, to: 'hex' })
  const forged = await attest('signatures/no-fill-or-refund/v1', { ...promise, signature })
  expect(forged.body['errorCode']).toBe('INVALID_SOLVER_SIGNATURE')
}

const balanceOf = (account: Hex) => {
  const { chains, deployment } = bed.session.network
  return connectLocalChain(chains.base.url, deployment.base.chainId).client.readContract({
    address: deployment.base.tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })
}

describe('a deposit that stands still', () => {
  test(
    'P-73, Q-73: comes back to its owner by the example of the guide, and to no thief',
    async () => {
      const owner = userOf(3)
      const requestId = await recoverable(await stuck(owner))
      await tellsTheDay(requestId)
      await refusesToPay(requestId)
      const thief = generatePrivateKey()
      await refusesStrangers(requestId, thief)
      const stolen = await runExample(requestId, thief, privateKeyToAddress(thief))
      expect(stolen.code, stolen.output).toBe(1)
      expect(stolen.output).toMatch(/SIGNATURE/)

      const recipient = privateKeyToAddress(generatePrivateKey())
      const { code, output } = await runExample(requestId, owner.privateKey, recipient)
      expect(code, output).toBe(0)
      expect(output).toContain(`withdrawn: ${amount}`)
      expect(await balanceOf(recipient)).toBe(amount)
      // Nothing is left to take.
      const again = await runExample(requestId, owner.privateKey, recipient)
      expect(again.code, again.output).toBe(1)
      expect(await balanceOf(recipient)).toBe(amount)
    },
    longTest,
  )

  test(
    'Q-66: to an address for a user whom nobody holds comes back by the key of the fill wallet, and by no other',
    async () => {
      const { keys } = bed.session.network
      const payer = userOf(2)
      const { requestId, little } = await paidByNobody(payer)
      await recoverable(requestId)
      const recipient = privateKeyToAddress(generatePrivateKey())
      const stolen = await runExample(requestId, generatePrivateKey(), recipient)
      expect([stolen.code, stolen.output]).toEqual([1, expect.stringContaining('INVALID_OWNER_SIGNATURE')])

      const { code, output } = await runExample(requestId, keys.fillWallet.privateKey, recipient)
      expect(code, output).toBe(0)
      const { client } = connectLocalChain(
        bed.session.network.chains.base.url,
        bed.session.network.deployment.base.chainId,
      )
      expect(await client.getBalance({ address: recipient })).toBe(little)
    },
    longTest,
  )
})

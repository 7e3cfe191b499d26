// Goal: a deposit of any family that nobody can fill or refund comes back to its owner, and to nobody else: stuck on
// purpose, given up by an operator, promised, signed by the oracles, entered on the hub, recovered, withdrawn by the
// depositor's own key, paid on its chain, and burned. Who gains by breaking it: a thief with another key, another order's
// promise, a copy, or the same bytes in another family. Method: the shipped solver, oracles and allocator in processes of
// their own, and a chain of each family.
import { type Hex, noFillOrRefundDigest, type OwnerRequest, ownerRequestHash } from '@causeway/core'
import { payloadHashes } from '@causeway/families/rules'
import {
  allocatorAbi,
  allocatorEnvironment,
  allocatorKeys,
  spawnAllocator,
  waitUntil,
} from '@causeway/localnet'
import { toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress, sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  issuedPayload,
  submitExecution,
  submitWithdrawRequest,
} from '../apps/oracle/test/support/hubSubmission.ts'
import { type Answer, accept, ask, payloadIdOf } from '../apps/oracle/test/support/ownerWithdrawals.ts'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  createRequestAdministration,
  type RequestAdministration,
} from '../apps/quote-api/src/operate/admin/requestAdministration.ts'
import { postPatiently, type QuoteAnswer, readOk } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { bytesOf, orderIdOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { type Sides, sidesOf } from './support/familySides.ts'
import { type FamilySolving, startFamilySolving } from './support/familySolver.ts'
import {
  type RecoveryFamily,
  type RecoveryWallet,
  recoveryFamilies,
  recoverySides,
  signOnEvm,
} from './support/recoveryWallets.ts'

const longTest = 600_000
const deed = { actor: 'cli:operator', reason: 'no refund can land' }
type Stuck = { readonly quote: QuoteAnswer; readonly wallet: RecoveryWallet; readonly family: RecoveryFamily }
let bed: FamilySolving
let sides: Sides
let origins: ReturnType<typeof recoverySides>
let administration: RequestAdministration
let allocator: ReturnType<typeof spawnAllocator>
let stuckOnes: ReadonlyMap<RecoveryFamily, Stuck>

beforeAll(async () => {
  bed = await startFamilySolving()
  sides = sidesOf(bed.six)
  origins = recoverySides(bed.six)
  administration = createRequestAdministration(bed.six.database)
  const { network } = bed.six.chains
  const { ecdsa, ed25519 } = allocatorKeys(network)
  allocator = spawnAllocator({
    ...allocatorEnvironment(network, { opsPort: 0, pollMs: 100 }),
    CONFIG_DIR: bed.six.chains.solana.configs.directory,
    ALLOCATOR_ECDSA_PRIVATE_KEY: ecdsa,
    ALLOCATOR_ED25519_PRIVATE_KEY: ed25519,
  })
  await allocator.ready()
  const found = new Map<RecoveryFamily, Stuck>()
  // Some deposits are paid by one account.
  for (const family of recoveryFamilies) found.set(family, await stuck(family))
  stuckOnes = found
}, longTest)
afterAll(async () => {
  allocator?.kill('SIGKILL')
  await allocator?.ended
  await bed?.stop()
})

/** Nobody fills it and nobody refunds it: no solver runs yet, and what was asked of one has failed as often as it may. */
async function stuck(family: RecoveryFamily): Promise<Stuck> {
  const { six } = bed
  const wallet = await origins[family].wallet()
  const { origin } = origins[family]
  const destination = sides.EVM.destination()
  const body = {
    user: wallet.account,
    refundTo: wallet.account,
    recipient: sides.EVM.payee().recipient,
    originChainId: origin.chainId,
    originCurrency: origin.currency,
    amount: origin.amount,
    destinationChainId: destination.chainId,
    destinationCurrency: destination.currency,
    tradeType: 'EXACT_INPUT',
  }
  const quote = readOk(await postPatiently(`${six.url}/quote`, body), quoteResponseSchema)
  await wallet.deposit(quote)
  for (const [kind, attempts] of [
    ['fill', 3],
    ['refund', 20],
  ] as const) {
    const { id } = await six.requests.workFor(quote, kind)
    await six.database.query('update work_item set attempts = $2 where id = $1', [id, attempts])
    await six.requests.solver.fail(id, 'on purpose')
  }
  await six.requests.reachesStage(quote, 'parked')
  return { quote, wallet, family }
}

const stuckOf = (family: RecoveryFamily): Stuck => {
  const found = stuckOnes.get(family)
  if (found === undefined) throw new Error(`nothing is stuck on ${family}`)
  return found
}

const passing: ReadonlySet<unknown> = new Set([
  'RATE_LIMITED',
  'HUB_NOT_FINAL',
  'HUB_BALANCE_NOT_FINAL',
  'TRANSACTION_NOT_FINAL',
])

/** Asks again while time alone is missing, or a peer has not read the same block yet. */
async function attest(path: string, body: object): Promise<Answer> {
  for (;;) {
    const answer = await ask(bed.oracle, path, body)
    const { signatures } = answer.body.execution ?? answer.body.payloadParams ?? {}
    const isWhole = signatures === undefined || signatures.length >= 2
    if (!passing.has(answer.body.errorCode) && isWhole) return answer
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

const codeOf = ({ body }: Answer): unknown => body.errorCode

const requestsSchema = z.object({
  requests: z.array(
    z.object({
      protocol: z.object({
        v2: z.object({ orderData: z.looseObject({ solver: z.string() }), orderSignature: z.string() }),
      }),
      data: z.object({ inTxs: z.array(z.object({ txHash: z.string() })) }),
    }),
  ),
})

/** Bodies of the routes of a recovery, as its owner reads them of the service and of the oracles. */
async function recoveryOf({ quote, family }: Stuck) {
  const response = await fetch(`${bed.six.url}/requests/v3?id=${quote.requestId}&includeOrderData=true`)
  const [request] = requestsSchema.parse(await response.json()).requests
  const place = { chainId: family, transactionId: request?.data.inTxs[0]?.txHash }
  const deposit = (await attest('depository-deposits/v1', place)).body.messages[0].result
  const { orderData: order, orderSignature } = request?.protocol.v2 ?? {}
  return { deposit, body: { ...place, onchainId: deposit.onchainId, order, orderSignature } }
}

/** A week of an order's refund, and what the chain takes to be final. */
const passDeadline = ({ quote }: Stuck) =>
  bed.six.database.query(
    `update work_item set payload = jsonb_set(payload::jsonb, '{deadline}', to_jsonb(1))::json
     where kind = 'refund' and request_id = $1`,
    [bytesOf(quote.requestId)],
  )

async function becomesRecoverable({ quote }: Stuck): Promise<void> {
  const id = quote.requestId as Hex // CAST: the wire describes it as text.
  const entered = () =>
    bed.six.database.query('select from order_recovery where request_id = $1 and entered_at is not null', [
      bytesOf(id),
    ])
  await waitUntil('the hub has it', async () => (await entered()).length > 0, {
    patienceMs: 400_000,
    pollMs: 500,
    circumstances: async () => JSON.stringify(await administration.explain(id)),
  })
}

describe('deposits that stand still', () => {
  test('P-74: are recovered by nobody before the promise, nor by a promise of somebody else', async () => {
    const [one, other] = await Promise.all([recoveryOf(stuckOf('solana')), recoveryOf(stuckOf('tron'))])
    expect(codeOf(await attest('recover/v1', one.body))).toBe('NO_FILL_PROMISE_MISSING')
    const { order, orderSignature } = other.body
    expect(codeOf(await attest('recover/v1', { ...one.body, order, orderSignature }))).toBe(
      'DEPOSIT_ORDER_MISMATCH',
    )
    const promise = {
      solverChainId: 'base',
      orderId: orderIdOf(stuckOf('solana').quote),
      solver: one.body.order?.solver as Hex, // CAST: orders are signed by EVM accounts.
    }
    const hash = toHex(noFillOrRefundDigest(promise, 8_453))
    const signature = await sign({ hash, privateKey: generatePrivateKey(), to: 'hex' })
    const forged = await attest('signatures/no-fill-or-refund/v1', { ...promise, signature })
    expect(codeOf(forged)).toBe('INVALID_SOLVER_SIGNATURE')
  })

  test(
    'P-74: are given up by an operator, and the solver brings their promises to the hub',
    async () => {
      for (const { quote } of stuckOnes.values())
        await administration.resolve(quote.requestId as Hex, 'recover', deed) // CAST: see above.
      for (const family of ['hyperliquid', 'lighter'] as const) await passDeadline(stuckOf(family))
      await bed.startSolver().ready()
      await Promise.all([...stuckOnes.values()].map(becomesRecoverable))
      for (const family of recoveryFamilies) {
        const early = await attest('recover/v1', (await recoveryOf(stuckOf(family))).body)
        expect([family, codeOf(early)]).toEqual([family, 'RECOVERY_TOO_EARLY'])
      }
      const { network } = bed.six.chains
      await network.chains.hub.chain.node.increaseTime({ seconds: 3_700 })
      await network.mine('hub', 3)
    },
    longTest,
  )
})

describe.each(recoveryFamilies)('P-74: a deposit on %s', (family) => {
  test(
    'goes to its depositor on his own key, and to no thief',
    async () => {
      const { network } = bed.six.chains
      const { wallet } = stuckOf(family)
      const side = origins[family]
      const { deposit, body } = await recoveryOf(stuckOf(family))
      const recovery = await attest('recover/v1', body)
      await accept(network, recovery)
      expect(await submitExecution(network, recovery.body.execution)).toBe('AlreadyExecuted')
      expect(codeOf(await attest('recover/v1', body))).toBe('DEPOSIT_NOT_HELD')

      const payee = await side.payee()
      const request: OwnerRequest = {
        chainId: family,
        currency: deposit.currency,
        amount: deposit.amount,
        recipient: payee.recipient,
        ownerChainId: family,
        owner: deposit.depositor,
        nonce: '7',
        ...(side.additionalData !== undefined && { additionalData: side.additionalData() }),
      }
      const signed = (by: Hex, change: Partial<OwnerRequest> = {}, signs = side.sign) => {
        const changed = { ...request, ...change }
        return { ...changed, ownerSignature: signs(ownerRequestHash(changed), by) }
      }
      const flow = signed(wallet.key)
      const thief = side.stranger()
      const twin = { ownerChainId: 'base', owner: privateKeyToAddress(wallet.key).toLowerCase() }
      const thefts = {
        'another key': signed(thief.key),
        'a seen signature': { ...flow, recipient: thief.account },
        'another owner': signed(thief.key, { owner: thief.account }),
        'the same key in another family': signed(wallet.key, twin, signOnEvm),
      }
      const refusals = await Promise.all(
        Object.entries(thefts).map(async ([how, theft]) => [
          how,
          codeOf(await attest('withdrawal-initiation/v2', theft)),
        ]),
      )
      expect(Object.fromEntries(refusals)).toEqual({
        'another key': 'INVALID_OWNER_SIGNATURE',
        'a seen signature': 'INVALID_OWNER_SIGNATURE',
        'another owner': 'INSUFFICIENT_HUB_BALANCE',
        'the same key in another family': 'INSUFFICIENT_HUB_BALANCE',
      })

      const initiation = await attest('withdrawal-initiation/v2', flow)
      await accept(network, initiation)
      expect(await submitExecution(network, initiation.body.execution)).toBe('AlreadyExecuted')
      const { payloadParams } = (await attest('withdrawal-initiated/v2', flow)).body
      expect(await submitWithdrawRequest(network, payloadParams)).toBe('accepted')
      const payloadId = payloadIdOf(payloadParams)
      const payload = await issuedPayload(network, payloadId)
      const place = { hubChainId: BigInt(payloadParams.chainId), depository: payloadParams.depository }
      const vmType = `${family}-vm` as const
      const [hash = '0x'] = payloadHashes(vmType, payload, place)
      let signature: Hex = '0x'
      await waitUntil('the allocator signs', async () => {
        signature = await network.chains.hub.chain.client.readContract({
          address: network.deployment.hub.allocator,
          abi: allocatorAbi,
          functionName: 'signedPayloads',
          args: [payloadId, hash],
        })
        return signature !== '0x'
      })
      const transactionId = await side.pay(payload, signature)
      expect(await payee.held()).toBe(BigInt(deposit.amount))
      await expect(side.pay(payload, signature)).rejects.toThrow()
      expect(await payee.held()).toBe(BigInt(deposit.amount))

      const burned = await attest('depository-withdrawals/v2', { ...flow, transactionId })
      expect(burned.body).toMatchObject({ status: 1 })
      await accept(network, burned)
      expect(codeOf(await attest('withdrawal-initiation/v2', signed(wallet.key, { nonce: '8' })))).toBe(
        'INSUFFICIENT_HUB_BALANCE',
      )
    },
    longTest,
  )
})

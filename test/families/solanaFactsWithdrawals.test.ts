// Goal: a withdrawal is executed, expired or pending exactly when the depository program would say so, and
// its executing transaction is proven. Method: the program runs requests on LiteSVM; clocks, commitments and
// answers are moved between its states. @source rule F-141

import type { Hex } from '@causeway/core'
import { encodeSolanaWithdrawal, type SolanaWithdrawal, solanaWithdrawalId } from '@causeway/families/rules'
import {
  depositNative,
  executeTransfer,
  forwardInstruction,
  solanaBodies,
} from '@causeway/localnet/standIns/solana'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aSignal, proxiesOf, readerOf, type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

const lasting = 2n ** 40n
let bed: SolanaBed
let nonce = 0n

beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())
beforeEach(() => bed.node.finalize())

function request(fields: Partial<SolanaWithdrawal> = {}): SolanaWithdrawal {
  nonce += 1n
  return {
    domain: `0x${'01'.repeat(32)}`,
    recipient: bed.recipient.toBase58(),
    token: undefined,
    amount: 1_000_000n,
    nonce,
    expiration: lasting,
    vaultAddress: bed.depository.addresses.vault,
    ...fields,
  }
}

const execution = (withdrawal: SolanaWithdrawal) =>
  executeTransfer(bed.depository, {
    executor: bed.user.publicKey,
    request: withdrawal,
    withdrawalId: solanaWithdrawalId(withdrawal),
  })

function read(withdrawal: SolanaWithdrawal, transactionId?: string, urls: readonly string[] = [bed.url]) {
  const question = { withdrawal: encodeSolanaWithdrawal(withdrawal), ...(transactionId && { transactionId }) }
  return readerOf(bed, { urls }).reader.readWithdrawal(question, aSignal())
}

const clock = () => bed.node.block(bed.node.slot('finalized'))?.timeSeconds ?? 0n

describe('a withdrawal is', () => {
  test('pending while nobody executed it, with what it pays', async () => {
    const withdrawal = request()
    const slot = bed.node.slot('finalized')
    expect(await read(withdrawal)).toEqual({
      kind: 'withdrawal',
      withdrawalId: solanaWithdrawalId(withdrawal),
      depository: bed.depository.program.toBase58(),
      status: 'pending',
      currency: '1'.repeat(32),
      amount: 1_000_000n,
      recipient: bed.recipient.toBase58(),
      evidence: {
        chainId: 'solana',
        blockHash: bed.node.block(slot)?.hash,
        blockNumber: slot,
        finalityRule: 'commitment finalized',
        agreeingEndpoints: ['e1'],
      },
    })
  })

  test.each<readonly [string, () => Partial<SolanaWithdrawal>]>([
    ['of SOL', () => ({})],
    ['of a token', () => ({ token: bed.mint.toBase58() })],
  ])('executed %s once the program ran it', async (_name, fields) => {
    const withdrawal = request(fields())
    const transactionId = await bed.send([execution(withdrawal)])
    expect(await read(withdrawal)).toMatchObject({ status: 'executed' })
    expect(await read(withdrawal)).not.toHaveProperty('executingTransactionId')
    expect(await read(withdrawal, transactionId)).toMatchObject({
      status: 'executed',
      executingTransactionId: transactionId,
      currency: withdrawal.token ?? '1'.repeat(32),
    })
  })

  test('executed when another program called the depository', async () => {
    const withdrawal = request()
    const transactionId = await bed.send([forwardInstruction(bed.forwarder, execution(withdrawal))])
    expect(await read(withdrawal, transactionId)).toMatchObject({ executingTransactionId: transactionId })
  })

  test('executed for good, also long after it expired', async () => {
    const withdrawal = request({ expiration: clock() + 5n })
    await bed.send([execution(withdrawal)])
    bed.node.mine(1, 100n)
    expect(await read(withdrawal)).toMatchObject({ status: 'executed' })
  })

  test('F-141: pending in the second it expires, when the program refuses it already, and expired in the next', async () => {
    const withdrawal = request({ expiration: clock() + 1n })
    bed.node.mine(1, 1n)
    await expect(bed.send([execution(withdrawal)])).rejects.toThrow(/Custom\(4\)/)
    expect(await read(withdrawal)).toMatchObject({ status: 'pending' })
    bed.node.mine(1, 1n)
    expect(await read(withdrawal)).toMatchObject({ status: 'expired' })
    await expect(bed.send([execution(withdrawal)])).rejects.toThrow(/Custom\(4\)/)
  })

  test('executed when the program ran it in the second before it expires', async () => {
    const withdrawal = request({ expiration: clock() + 1n })
    await bed.send([execution(withdrawal)])
    bed.node.mine(1, 5n)
    expect(await read(withdrawal)).toMatchObject({ status: 'executed' })
  })

  test('expired from the start when its expiration is negative', async () => {
    expect(await read(request({ expiration: -1n }))).toMatchObject({ status: 'expired' })
  })

  test('still pending when somebody paid lamports to the address that would mark it', async () => {
    const withdrawal = request()
    bed.node.airdrop(bed.depository.addresses.usedRequest(solanaWithdrawalId(withdrawal)), 5_000_000n)
    expect(await read(withdrawal)).toMatchObject({ status: 'pending' })
  })

  test('pending as long as its execution is not final', async () => {
    const withdrawal = request()
    bed.node.hold()
    const transactionId = await bed.send([execution(withdrawal)])
    expect(await read(withdrawal, transactionId)).toMatchObject({ status: 'pending' })
    bed.node.finalize()
    expect(await read(withdrawal, transactionId)).toMatchObject({ executingTransactionId: transactionId })
  })

  test('pending when its execution was on a fork that lost', async () => {
    const withdrawal = request()
    bed.node.hold()
    const transactionId = await bed.send([execution(withdrawal)])
    bed.node.drop()
    expect(await read(withdrawal, transactionId)).toMatchObject({ status: 'pending' })
  })

  test('another one where any of its fields differs', async () => {
    const withdrawal = request()
    await bed.send([execution(withdrawal)])
    const other: readonly Partial<SolanaWithdrawal>[] = [
      { nonce: withdrawal.nonce + 1_000n },
      { amount: withdrawal.amount + 1n },
      { recipient: Keypair.generate().publicKey.toBase58() },
      { domain: `0x${'02'.repeat(32)}` },
      { expiration: withdrawal.expiration - 1n },
    ]
    for (const fields of other) {
      expect(await read({ ...withdrawal, ...fields })).toMatchObject({ status: 'pending' })
    }
  })
})

describe('a transaction does not prove an execution when', () => {
  test.each<readonly [string, (withdrawal: SolanaWithdrawal) => Promise<string>]>([
    [
      'it deposits',
      () => bed.send([depositNative(bed.depository, { sender: bed.user.publicKey, amount: 7n, id })]),
    ],
    ['it executes another withdrawal', () => bed.send([execution(request())])],
    ['it failed', (withdrawal) => bed.send([execution(withdrawal)], { skipPreflight: true })],
    ['nobody knows it', async () => `${'2'.repeat(87)}a`],
  ])('%s', async (_name, other) => {
    const withdrawal = request()
    await bed.send([execution(withdrawal)])
    const facts = await read(withdrawal, await other(withdrawal))
    expect(facts).toMatchObject({ status: 'executed' })
    expect(facts).not.toHaveProperty('executingTransactionId')
  })

  test('it runs the same request at another depository', async () => {
    const withdrawal = request()
    await bed.send([execution(withdrawal)])
    const other = bed.deployDepository()
    const withdrawalId = solanaWithdrawalId(withdrawal)
    const elsewhere = executeTransfer(other, {
      executor: bed.user.publicKey,
      request: withdrawal,
      withdrawalId,
    })
    expect(await read(withdrawal, await bed.send([elsewhere]))).not.toHaveProperty('executingTransactionId')
  })
})

describe('an answer that proves nothing is never read as absence:', () => {
  const account = (change: (value: Record<string, unknown>, context: Record<string, unknown>) => unknown) =>
    [
      'getAccountInfo',
      (result: unknown) => change(Object(Object(result).value), Object(Object(result).context)),
    ] as const
  const data = (hex: string) => [Buffer.from(hex, 'hex').toString('base64'), 'base64']
  const marked = '87866e4d9662b46b'

  test.each<readonly [string, readonly [string, (result: unknown) => unknown]]>([
    [
      'an account of another program',
      account((value, context) => ({
        context,
        value: { ...value, owner: 'SysvarC1ock11111111111111111111111111111111' },
      })),
    ],
    [
      'an account without its mark',
      account((value, context) => ({ context, value: { ...value, data: data(`${'00'.repeat(8)}01`) } })),
    ],
    [
      'an account cut short',
      account((value, context) => ({ context, value: { ...value, data: data(marked) } })),
    ],
    [
      'a flag that is neither true nor false',
      account((value, context) => ({ context, value: { ...value, data: data(`${marked}02`) } })),
    ],
    [
      'data in another encoding',
      account((value, context) => ({ context, value: { ...value, data: ['abc', 'base58'] } })),
    ],
    [
      'a state older than the clock',
      account((value, context) => ({ context: { slot: Number(context['slot']) - 1 }, value })),
    ],
    [
      'absence at an older slot',
      account((_value, context) => ({ context: { slot: Number(context['slot']) - 1 }, value: null })),
    ],
    ['null', ['getAccountInfo', () => null]],
    ['no value', ['getAccountInfo', () => ({ context: { slot: 10 ** 9 } })]],
    ['a block without a time', ['getBlock', solanaBodies.withoutTime.body]],
    ['no block', ['getBlock', () => null]],
    ['a slot of text', ['getSlot', () => '5']],
  ])('%s', async (_name, [method, change]) => {
    const withdrawal = request({ expiration: clock() + 5n })
    await bed.send([execution(withdrawal)])
    bed.node.mine(1, 100n)
    const [proxy] = await proxiesOf(bed, 1)
    await proxy?.set({
      kind: 'lie',
      rewrite: (call, result) => (call.method === method ? change(result) : result),
    })
    await expect(read(withdrawal, undefined, [proxy?.url ?? ''])).rejects.toMatchObject({
      kind: 'upstream_unavailable',
      code: 'RPC_HTTP_ERROR',
    })
  })

  const { nodeBehind, contextTooOld, noMethod, slotSkipped } = solanaBodies.nodeErrors.body
  const refusals = [nodeBehind, contextTooOld, noMethod, slotSkipped]
  test.each(refusals.map(({ code, message }) => [code, message] as const))(
    'F-4: error %i (%s)',
    async (code, message) => {
      const withdrawal = request({ expiration: clock() + 5n })
      await bed.send([execution(withdrawal)])
      bed.node.mine(1, 100n)
      const [proxy] = await proxiesOf(bed, 1)
      await proxy?.set({ kind: 'nodeError', code, message })
      await expect(read(withdrawal, undefined, [proxy?.url ?? ''])).rejects.toMatchObject({
        kind: 'upstream_unavailable',
      })
    },
  )

  test('F-141: a node that is behind the slot whose clock is read has no vote', async () => {
    const withdrawal = request({ expiration: clock() + 5n })
    bed.node.mine(1, 100n)
    const proxies = await proxiesOf(bed, 3)
    const behind = { kind: 'lie', rewrite: lagging } as const
    await proxies[0]?.set(behind)
    const urls = proxies.map(({ url }) => url)
    const { status, evidence } = await read(withdrawal, undefined, urls)
    expect(status).toBe('expired')
    expect(evidence.agreeingEndpoints).toEqual(['e2', 'e3'])
    await proxies[1]?.set(behind)
    await proxies[2]?.set(behind)
    await expect(read(withdrawal, undefined, urls)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })
})

/** State three slots ago, under a head that is up to date. */
function lagging(call: { readonly method: string }, result: unknown): unknown {
  if (call.method !== 'getAccountInfo') return result
  return { context: { slot: Number(Object(Object(result).context).slot) - 3 }, value: null }
}

describe('is refused', () => {
  test.each<readonly [string, Hex]>([
    ['nothing', '0x'],
    ['half a request', `0x${'00'.repeat(60)}`],
    ['a request of another family', `0x${'00'.repeat(320)}`],
  ])('%s', async (_name, withdrawal) => {
    const { reader } = readerOf(bed)
    await expect(reader.readWithdrawal({ withdrawal }, aSignal())).rejects.toMatchObject({
      code: 'INVALID_WITHDRAWAL',
    })
  })

  test('a transaction id that is none', async () => {
    await expect(read(request(), '0xaa')).rejects.toMatchObject({ kind: 'invalid_request' })
  })
})

const id: Hex = `0x${'ab'.repeat(32)}`

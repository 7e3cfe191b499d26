import type { Hex } from '@causeway/core'
import {
  type EvmWithdrawal,
  encodeDepositNative,
  encodeEvmWithdrawal,
  encodeTransfer,
  type WithdrawalCall,
} from '@causeway/families/rules'
import { executeCallData } from '@causeway/localnet'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aSignal } from '../../families/ethereumSupport/chainBed.ts'
import {
  type DepositoryNetwork,
  type ReaderChange,
  type Sent,
  zeroAddress,
  zeroId,
} from './depositoryNetwork.ts'

const recipient: Hex = `0x${'31'.repeat(20)}`
const far = 4_000_000_000n
let nonce = 0n

/** A request that pays the recipient 5 of the coin. */
export function requestOf(call: Partial<WithdrawalCall> = {}, expiration = far): EvmWithdrawal {
  nonce += 1n
  const payment = { to: recipient, data: '0x', value: 5n, allowFailure: false, ...call } as const
  return { calls: [payment], nonce, expiration }
}

/** Gives the depository what requests pay out. */
export async function fund({ evm, user, send }: DepositoryNetwork): Promise<void> {
  const { depository, tokens } = evm.deployment
  await send(depository, encodeDepositNative(user.address, zeroId), 1_000n)
  await send(tokens.USDC, encodeTransfer(depository, 1_000n))
}

/** Has the allocator sign the request and runs it. */
export async function execute({ evm, send }: DepositoryNetwork, request: EvmWithdrawal): Promise<Sent> {
  const { depository } = evm.deployment
  const allocator = privateKeyToAccount(evm.network.keys.allocator.privateKey)
  const { chainId } = evm.chain
  return send(depository, await executeCallData({ chainId, depository, allocator, request }))
}

export function statusOf(
  { readerOf }: DepositoryNetwork,
  request: EvmWithdrawal,
  { transactionId, ...change }: ReaderChange & { readonly transactionId?: string } = {},
) {
  const withdrawal = encodeEvmWithdrawal(request)
  const question = { withdrawal, ...(transactionId !== undefined && { transactionId }) }
  return readerOf(change).readWithdrawal(question, aSignal())
}

/** Contract for withdrawals from the EVM depository, as every network reads them, on a node whose clock the test sets. */
export function describeWithdrawals(family: string, start: () => Promise<DepositoryNetwork>): void {
  describe(`a withdrawal of ${family}`, () => {
    let network: DepositoryNetwork
    beforeAll(async () => {
      network = await start()
      await fund(network)
    })
    afterAll(() => network?.stop())

    const proven = (transactionId: string) => ({ status: 'executed', executingTransactionId: transactionId })
    const headSeconds = async () => (await network.evm.chain.client.getBlock()).timestamp
    async function mineAt(...timestamps: readonly bigint[]): Promise<void> {
      for (const timestamp of timestamps) {
        await network.evm.chain.node.setNextBlockTimestamp({ timestamp })
        await network.evm.mine(1)
      }
    }
    async function expectUnproven(request: EvmWithdrawal, transactionId?: string): Promise<void> {
      const named = transactionId === undefined ? {} : { transactionId }
      const facts = await statusOf(network, request, named)
      expect(facts.status).toBe('executed')
      expect(facts.executingTransactionId).toBeUndefined()
    }

    test('F-125: of coin is proven by its transaction, however its id is written', async () => {
      const request = requestOf()
      const { transactionId } = await execute(network, request)
      await network.evm.mine(2)
      const named = { transactionId: network.respell(transactionId) }
      expect(await statusOf(network, request, named)).toMatchObject({
        ...proven(transactionId),
        depository: network.spell(network.evm.deployment.depository),
        currency: network.spell(zeroAddress),
        amount: 5n,
        recipient: network.spell(recipient),
      })
    })

    test('of a token names token, amount and recipient of its transfer', async () => {
      const usdc = network.evm.deployment.tokens.USDC
      const request = requestOf({ to: usdc, data: encodeTransfer(recipient, 7n), value: 0n })
      const { transactionId } = await execute(network, request)
      await network.evm.mine(2)
      expect(await statusOf(network, request, { transactionId })).toMatchObject({
        ...proven(transactionId),
        currency: network.spell(usdc),
        amount: 7n,
        recipient: network.spell(recipient),
      })
    })

    test('P-106: without a named transaction, or by one that executes none or another, proves none', async () => {
      const { depository } = network.evm.deployment
      const request = requestOf()
      await execute(network, request)
      const other = await execute(network, requestOf())
      const deposit = await network.send(depository, encodeDepositNative(recipient, zeroId), 1n)
      await network.evm.mine(2)
      const named = [undefined, other.transactionId, deposit.transactionId, network.unknownId]
      for (const transactionId of named) await expectUnproven(request, transactionId)
    })

    test.each<[string, (usdc: Hex) => Partial<WithdrawalCall>]>([
      ['of a token', (to) => ({ to, data: encodeTransfer(recipient, 10n ** 30n), value: 0n })],
      ['of coin', () => ({ value: 10n ** 15n })],
    ])(
      'P-106: whose call failed, as it may, is executed, and nothing proves it: %s',
      async (_name, callOf) => {
        const request = requestOf({ ...callOf(network.evm.deployment.tokens.USDC), allowFailure: true })
        const { transactionId } = await execute(network, request)
        await network.evm.mine(2)
        await expectUnproven(request, transactionId)
      },
    )

    test('is pending until its execution is final', async () => {
      const request = requestOf()
      const { transactionId } = await execute(network, request)
      for (const blocks of [0, 1]) {
        await network.evm.mine(blocks)
        const facts = await statusOf(network, request, { transactionId })
        expect(facts.status).toBe('pending')
        expect(facts.executingTransactionId).toBeUndefined()
      }
      await network.evm.mine(1)
      expect(await statusOf(network, request, { transactionId })).toMatchObject(proven(transactionId))
    })

    test('is pending while nobody runs it and it has not expired', async () => {
      await network.evm.mine(2)
      expect((await statusOf(network, requestOf())).status).toBe('pending')
    })

    test('F-125: has expired when a final block is later than its last second, not in that second', async () => {
      const expiration = (await headSeconds()) + 100n
      const request = requestOf({}, expiration)
      const finality = { mode: 'depth', blocks: 2, seconds: 0 } as const
      await mineAt(expiration, expiration + 1n, expiration + 2n)
      // The final block is the one of the last second.
      expect((await statusOf(network, request, { finality })).status).toBe('pending')
      await mineAt(expiration + 3n)
      expect((await statusOf(network, request, { finality })).status).toBe('expired')
    })

    test('has not expired while the seconds of finality are not over', async () => {
      const expiration = (await headSeconds()) + 100n
      const request = requestOf({}, expiration)
      const finality = { mode: 'depth-and-time', blocks: 2, seconds: 60 } as const
      await mineAt(...[1n, 2n, 3n, 4n].map((seconds) => expiration + seconds))
      expect((await statusOf(network, request, { finality })).status).toBe('pending')
      await mineAt(expiration + 60n)
      expect((await statusOf(network, request, { finality })).status).toBe('pending')
      await mineAt(expiration + 61n)
      expect((await statusOf(network, request, { finality })).status).toBe('expired')
    })

    test('that is executed in its last second is executed', async () => {
      const expiration = (await headSeconds()) + 100n
      const request = requestOf({}, expiration)
      await network.evm.chain.node.setNextBlockTimestamp({ timestamp: expiration })
      const { transactionId } = await execute(network, request)
      await network.evm.mine(5)
      expect(await statusOf(network, request, { transactionId })).toMatchObject(proven(transactionId))
    })

    test('is not proven by a transaction that is not final by the configured rule', async () => {
      const request = requestOf()
      const { transactionId } = await execute(network, request)
      await network.evm.mine(2)
      const finality = { mode: 'depth', blocks: 5, seconds: 0 } as const
      const early = await statusOf(network, request, { transactionId, finality })
      expect(early.executingTransactionId).toBeUndefined()
      await network.evm.mine(3)
      expect(await statusOf(network, request, { transactionId, finality })).toMatchObject(
        proven(transactionId),
      )
    })

    const twice = requestOf()
    test.each<[string, Hex]>([
      ['nothing', '0x'],
      ['bytes of no request', '0xdeadbeef'],
      ['two calls', encodeEvmWithdrawal({ ...twice, calls: [...twice.calls, ...twice.calls] })],
    ])('of %s is refused before anything is asked', async (_name, withdrawal) => {
      const reader = network.readerOf({ urls: ['http://127.0.0.1:9'] })
      await expect(reader.readWithdrawal({ withdrawal }, aSignal())).rejects.toMatchObject({
        code: 'INVALID_WITHDRAWAL',
      })
    })
  })
}

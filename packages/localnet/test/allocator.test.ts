// Goal: the allocator issues one payload per spender and nonce, for a request that two of the three
// oracles signed, and only its signer adds signatures. Method: as deployed, on a real node; what the
// contract builds and hashes is compared with `core`.

import { allocatorAbi, evmPayloadBuilderAbi } from '@causeway/contracts'
import {
  bytesToHex,
  derivedHubChainId,
  type Hex,
  type WithdrawRequest,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { bitcoinNetworkOf, createBitcoinCodec, mainNetwork, solanaCodec } from '@causeway/core/encodings'
import {
  bitcoinWithdrawalTransfer,
  decodeBitcoinWithdrawal,
  decodeEvmWithdrawal,
  decodeSolanaWithdrawal,
  payloadHashes,
  payloadWithdrawal,
  scriptAddress,
  signingDigest,
  solanaWithdrawalTransfer,
  spelledWithdrawRequest,
  withdrawalTransfer,
  withdrawRequestOf,
} from '@causeway/families/rules'
import { concatHex, encodeFunctionData, zeroAddress } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HubDeployment, localChainIds } from '../src/contracts/deployment.ts'
import { userChainPlan } from '../src/deploy/contractPlan.ts'
import { familyDepositories } from '../src/families/familyPlans.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startHubBench } from './support/contractBench.ts'

let bench: ContractBench<HubDeployment>
let oracles: readonly LocalAccount[]
let request: WithdrawRequest
const token: Hex = `0x${'5c'.repeat(20)}`
const receiver: Hex = `0x${'22'.repeat(20)}`
const tenDaysSeconds = 864_000n

beforeAll(async () => {
  bench = await startHubBench()
  oracles = [...bench.keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  request = {
    chainId: BigInt(localChainIds.base),
    depository: userChainPlan(bench.artifacts).depository.address,
    currency: token,
    amount: 1_000_000n,
    spender: `0x${'99'.repeat(20)}`,
    recipient: receiver,
    data: '0x',
    nonce: nonce(42),
  }
})
afterAll(() => bench?.stop())

function nonce(value: number): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

async function signed(
  wanted: WithdrawRequest,
  by: readonly LocalAccount[],
  chainId = bench.chain.chainId,
): Promise<Hex> {
  const domain = { chainId, verifyingContract: bench.deployment.allocator }
  const hash = bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request: wanted }))
  return concatHex(await Promise.all(by.map(({ privateKey }) => sign({ hash, privateKey, to: 'hex' }))))
}

function submission({ recipient, ...rest }: WithdrawRequest, signature: Hex): Hex {
  const args = [{ ...rest, receiver: recipient }, signature] as const
  return encodeFunctionData({ abi: allocatorAbi, functionName: 'submitWithdrawRequest', args })
}

async function submit(wanted: WithdrawRequest): Promise<Hex> {
  const data = submission(wanted, await signed(wanted, oracles.slice(0, 2)))
  await bench.send(bench.keys.fillWallet, bench.deployment.allocator, data)
  return withdrawRequestPayloadId(wanted)
}

async function refusal(wanted: WithdrawRequest, signature?: Hex): Promise<string> {
  const data = submission(wanted, signature ?? (await signed(wanted, oracles.slice(0, 2))))
  return bench.revert(bench.keys.fillWallet, bench.deployment.allocator, data)
}

const payloadOf = (payloadId: Hex) =>
  bench.chain.client.readContract({
    address: bench.deployment.allocator,
    abi: allocatorAbi,
    functionName: 'payloads',
    args: [payloadId],
  })

describe('a withdraw request of two oracles', () => {
  test('is issued once, as the payment it asks for, and names itself by spender and nonce', async () => {
    const payloadId = await submit(request)
    const payload = await payloadOf(payloadId)
    const withdrawal = decodeEvmWithdrawal(payload)
    expect(withdrawalTransfer(withdrawal)).toEqual({
      currency: token,
      amount: 1_000_000n,
      recipient: receiver,
    })
    expect(withdrawal.nonce).toBe(BigInt(payloadId))
    const builtAt = await bench.chain.client.readContract({
      address: bench.deployment.allocator,
      abi: allocatorAbi,
      functionName: 'payloadTimestamps',
      args: [payloadId],
    })
    expect(withdrawal.expiration).toBe(builtAt + tenDaysSeconds)
    const named = await bench.chain.client.readContract({
      address: bench.deployment.allocator,
      abi: allocatorAbi,
      functionName: 'payloadIdOf',
      args: [request.spender, request.nonce],
    })
    expect(named).toBe(payloadId)
    expect(await refusal(request)).toBe('NonceUsed')
  })

  test('P-119: gets no second payload under its nonce, whatever else it asks for', async () => {
    for (const change of [
      { amount: 2_000_000n },
      { recipient: `0x${'23'.repeat(20)}` },
      { currency: zeroAddress },
      { chainId: BigInt(localChainIds.optimism) },
    ]) {
      expect(await refusal({ ...request, ...change })).toBe('NonceUsed')
    }
  })

  test('of two owners have bytes of their own', async () => {
    const one = await submit({ ...request, spender: `0x${'a1'.repeat(20)}` })
    const other = await submit({ ...request, spender: `0x${'a2'.repeat(20)}` })
    expect(await payloadOf(one)).not.toBe(await payloadOf(other))
  })

  test('pays native coin by value', async () => {
    const payloadId = await submit({ ...request, currency: zeroAddress, nonce: nonce(43) })
    const transfer = withdrawalTransfer(decodeEvmWithdrawal(await payloadOf(payloadId)))
    expect(transfer).toEqual({ currency: zeroAddress, amount: 1_000_000n, recipient: receiver })
  })

  test.each<[string, () => Partial<WithdrawRequest>, string]>([
    ['of a chain without a builder', () => ({ chainId: 1n }), 'UnknownBuilder'],
    ['of a depository without a builder', () => ({ depository: receiver }), 'UnknownBuilder'],
    ['with data that the family has no use for', () => ({ data: '0x01' }), 'EmptyPayload'],
    ['in a currency that is no address', () => ({ currency: 'USDC' }), 'MalformedText'],
    ['to a recipient that is no address', () => ({ recipient: `0x${'zz'.repeat(20)}` }), 'MalformedText'],
  ])('%s is refused', async (_what, change, error) => {
    expect(await refusal({ ...request, nonce: nonce(44), ...change() })).toBe(error)
  })
})

describe('payloads of the other families are those that core derives the same request from', () => {
  const hashOf = (builder: Hex, payload: Hex, wanted: WithdrawRequest, index = 0) =>
    bench.chain.client.readContract({
      address: builder,
      abi: evmPayloadBuilderAbi,
      functionName: 'hashToSign',
      args: [wanted.chainId, wanted.depository, payload, index],
    })

  test.each([
    ['a token', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['SOL', solanaCodec.nativeCurrency],
  ])('on Solana, of %s', async (_what, currency) => {
    const solana = { ...mainNetwork('solana-vm'), hubChainId: derivedHubChainId('solana').toString() }
    const { solana: depository } = familyDepositories(zeroAddress)
    const recipient = '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1'
    const money = { depository, currency, amount: 1_000_000n, recipient }
    const requested = { ...money, spender: request.spender, nonce: BigInt(60 + currency.length) }
    const wanted = spelledWithdrawRequest(solana, requested)
    const payloadId = await submit(wanted)
    const payload = await payloadOf(payloadId)
    expect(solanaWithdrawalTransfer(decodeSolanaWithdrawal(payload))).toEqual({
      currency,
      amount: 1_000_000n,
      recipient,
    })
    expect(decodeSolanaWithdrawal(payload).nonce).toBe(BigInt.asUintN(64, BigInt(payloadId)))
    expect(withdrawRequestOf(solana, payload, requested)).toEqual(wanted)
    const place = { hubChainId: wanted.chainId, depository }
    expect([await hashOf(bench.deployment.solanaPayloadBuilder, payload, wanted)]).toEqual(
      payloadHashes('solana-vm', payload, place),
    )
  })

  describe('on Bitcoin', () => {
    const bitcoin = {
      ...({ vmType: 'bitcoin-vm', network: 'regtest' } as const),
      hubChainId: derivedHubChainId('bitcoin').toString(),
    }
    const { bitcoin: depository } = familyDepositories(zeroAddress)
    const recipient = scriptAddress(
      Uint8Array.of(0, 20, ...new Uint8Array(20).fill(7)),
      bitcoinNetworkOf('regtest'),
    )
    const requested = (nonceOf: bigint, amount: bigint) => {
      if (recipient === undefined) throw new Error('no address')
      const { nativeCurrency: currency } = createBitcoinCodec()
      return { depository, currency, amount, recipient, spender: request.spender, nonce: nonceOf }
    }
    const utxo = (byte: string, value: string) => ({ txid: byte.repeat(32), vout: 1, value })
    const spelled = (nonceOf: bigint, amount: bigint, utxos: readonly object[]) =>
      spelledWithdrawRequest(bitcoin, requested(nonceOf, amount), {
        'bitcoin-vm': { allocatorUtxos: utxos, feeRate: '5' },
      })

    test.each([
      ['with change', 61n, 60_000n],
      ['without', 62n, 140_000n],
    ])('%s', async (_what, nonceOf, amount) => {
      const wanted = spelled(nonceOf, amount, [utxo('a1', '100000'), utxo('b2', '40000')])
      const payload = await payloadOf(await submit(wanted))
      const psbt = payloadWithdrawal('bitcoin-vm', payload)
      expect(withdrawRequestOf(bitcoin, psbt, requested(nonceOf, amount))).toEqual(wanted)
      expect(
        bitcoinWithdrawalTransfer(decodeBitcoinWithdrawal(psbt), bitcoinNetworkOf('regtest')),
      ).toMatchObject({ amount, recipient })
      const hashes = payloadHashes('bitcoin-vm', payload, { hubChainId: wanted.chainId, depository })
      const { bitcoinPayloadBuilder } = bench.deployment
      const built = [0, 1].map((index) => hashOf(bitcoinPayloadBuilder, payload, wanted, index))
      expect(await Promise.all(built)).toEqual(hashes)
    })

    test('P-122: two owners never share the bytes of one transaction', async () => {
      const utxos = [utxo('c3', '100000')]
      await submit(spelled(63n, 60_000n, utxos))
      const other = { ...spelled(63n, 60_000n, utxos), spender: receiver }
      expect(await refusal(other)).toBe('DuplicatePayload')
    })

    test('outputs that do not hold the amount, or an amount below its fee, are refused', async () => {
      expect(await refusal(spelled(64n, 100_001n, [utxo('d4', '100000')]))).toBe('EmptyPayload')
      expect(await refusal(spelled(64n, 960n, [utxo('d4', '960')]))).toBe('EmptyPayload')
    })
  })
})

describe('a withdraw request is refused when it is signed by', () => {
  const other = () => ({ ...request, nonce: nonce(45) })

  test.each<[string, () => Promise<Hex>]>([
    ['one oracle alone', () => signed(other(), oracles.slice(0, 1))],
    ['an outsider', () => signed(other(), [...oracles.slice(0, 1), freshAccount()])],
    ['oracles over another chain', () => signed(other(), oracles.slice(0, 2), 1)],
    ['oracles over another amount', () => signed({ ...other(), amount: 2n }, oracles.slice(0, 2))],
  ])('%s', async (_who, signature) => {
    expect(await refusal(other(), await signature())).toBe('InvalidSignature')
  })
})

describe('the signature of a payload', () => {
  const store = (payloadId: Hex, hash: Hex) =>
    encodeFunctionData({
      abi: allocatorAbi,
      functionName: 'storeSignature',
      args: [payloadId, hash, '0x1234'],
    })

  test('is stored by the signer alone, once, for a payload that was built', async () => {
    const { allocator } = bench.deployment
    const payloadId = await submit({ ...request, nonce: nonce(46) })
    const data = store(payloadId, nonce(1))
    for (const stranger of [bench.keys.fillWallet, bench.keys.deployer]) {
      expect(await bench.revert(stranger, allocator, data)).toBe('NotSigner')
    }
    await bench.send(bench.keys.allocator, allocator, data)
    expect(await bench.revert(bench.keys.allocator, allocator, data)).toBe('AlreadySigned')
    expect(await bench.revert(bench.keys.allocator, allocator, store(nonce(9), nonce(1)))).toBe(
      'UnknownPayload',
    )
  })

  test('is over the hash that core computes', async () => {
    const payloadId = await submit({ ...request, nonce: nonce(47) })
    const payload = await payloadOf(payloadId)
    const built = await bench.chain.client.readContract({
      address: bench.deployment.evmPayloadBuilder,
      abi: evmPayloadBuilderAbi,
      functionName: 'hashToSign',
      args: [request.chainId, request.depository, payload, 0],
    })
    const place = { hubChainId: request.chainId, depository: request.depository }
    expect([built]).toEqual(payloadHashes('ethereum-vm', payload, place))
  })

  test('may come under a builder that its owner alone sets', async () => {
    const { allocator, evmPayloadBuilder } = bench.deployment
    const args = [1n, request.depository, evmPayloadBuilder] as const
    const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'setBuilder', args })
    expect(await bench.revert(bench.keys.allocator, allocator, data)).toBe('NotOwner')
    await bench.send(bench.keys.deployer, allocator, data)
    await submit({ ...request, chainId: 1n, nonce: nonce(48) })
  })
})

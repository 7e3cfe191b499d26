// Goal: what a user signs for Permit2 is spent on the calls that the user signed, sent by the account that the
// user signed for, and on nothing else. Method: Permit2 as it is on public chains, our router, our tokens and
// depository on a real node; each attack is a transaction.

import { depositoryAbi, permit2RouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import {
  encodePermit,
  type Permit2Terms,
  permit2Address,
  permitDigest,
  permitTypedData,
} from '@causeway/families/rules'
import {
  BaseError,
  concatHex,
  decodeErrorResult,
  encodeFunctionData,
  erc20Abi,
  hashStruct,
  hashTypedData,
  isHex,
  keccak256,
  maxUint256,
  parseAbi,
  parseEventLogs,
  toHex,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { publicContracts } from '../src/deploy/publicContracts.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

const amount = 25_000_000n
const permit2Abi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitBatchTransferFrom { TokenPermissions[] permitted; uint256 nonce; uint256 deadline; }',
  'struct SignatureTransferDetails { address to; uint256 requestedAmount; }',
  'function permitWitnessTransferFrom(PermitBatchTransferFrom permit, SignatureTransferDetails[] transferDetails, address owner, bytes32 witness, string witnessTypeString, bytes signature)',
  'error InvalidSigner()',
  'error InvalidNonce()',
  'error SignatureExpired(uint256 signatureDeadline)',
  'error CallFailed(uint256 index, bytes reason)',
  'error InvalidRecipient(address recipient)',
  'error Error(string reason)',
])
let bench: ContractBench<ChainDeployment>
let owner: LocalAccount
let relayer: LocalAccount
let stranger: LocalAccount
let usdc: Hex
let router: Hex

beforeAll(async () => {
  bench = await startUserChainBench()
  owner = bench.keys.users[0] ?? freshAccount()
  relayer = bench.keys.users[1] ?? freshAccount()
  stranger = bench.keys.users[2] ?? freshAccount()
  usdc = bench.deployment.tokens.USDC
  router = bench.deployment.permit2Router
  for (const each of [owner, stranger]) await bench.send(each, usdc, approve(permit2Address, maxUint256))
})
afterAll(() => bench?.stop())

const approve = (spender: Hex, value: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, value] })
const transfer = (to: Hex, value: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, value] })
const balanceOf = (holder: Hex) =>
  bench.chain.client.readContract({ address: usdc, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })

function depositCalls(depositor: Hex, orderId: Hex, value = amount) {
  const deposit = encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositErc20',
    args: [depositor, usdc, value, orderId],
  })
  const { depository } = bench.deployment
  return [
    { to: usdc, data: approve(depository, value), value: 0n },
    { to: depository, data: deposit, value: 0n },
  ]
}

async function termsOf(more: Partial<Permit2Terms> = {}): Promise<Permit2Terms> {
  const orderId = toHex(crypto.getRandomValues(new Uint8Array(32)))
  const depositor = more.owner ?? owner.address
  return {
    kind: 'permit2',
    token: usdc,
    owner: owner.address,
    amount,
    deadlineSeconds: Number((await bench.chain.client.getBlock()).timestamp) + 600,
    orderId,
    chainId: bench.chain.chainId,
    router,
    relayer: relayer.address,
    calls: depositCalls(depositor, orderId),
    ...more,
  }
}

function sign(terms: Permit2Terms, signer = owner): Promise<Hex> {
  const { value: message, ...typed } = permitTypedData(terms)
  return privateKeyToAccount(signer.privateKey).signTypedData({ ...typed, message })
}

const submit = async (terms: Permit2Terms, signer = owner) =>
  bench.send(relayer, router, encodePermit(terms, await sign(terms, signer)).data)

/** A struct among the members of typed data. */
function nested(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new Error('the member is no struct')
  return { ...value }
}

/** Name of the error that a call ends with. */
async function refusal(data: Hex, from = relayer, to = router): Promise<string> {
  try {
    await bench.chain.client.call({ account: from.address, to, data })
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const holder: unknown = error.walk(
      (cause) => typeof cause === 'object' && cause !== null && 'data' in cause && isHex(cause.data),
    )
    if (typeof holder !== 'object' || holder === null || !('data' in holder) || !isHex(holder.data))
      return 'no data'
    if (holder.data === '0x') return 'no data'
    const { errorName, args } = decodeErrorResult({ abi: permit2Abi, data: holder.data })
    return errorName === 'Error' ? args[0] : errorName
  }
  return 'it passes'
}

describe('public contracts', () => {
  test.each(publicContracts)('$what stands where it stands everywhere', async ({ address, creationCode }) => {
    const code = await bench.chain.client.getCode({ address })
    expect(code?.length).toBeGreaterThan(10_000)
    expect(keccak256(creationCode())).toMatch(/^0x[0-9a-f]{64}$/)
  })

  test('types of a witness are the public ones', async () => {
    const read = { address: router, abi: permit2RouterAbi } as const
    const { client } = bench.chain
    expect([
      await client.readContract({ ...read, functionName: 'CALL_TYPEHASH' }),
      await client.readContract({ ...read, functionName: 'WITNESS_TYPEHASH' }),
    ]).toEqual([
      '0xfd3926a097b5d365885a8c0afe16fa80ed4d377e8627017476dfe9729e8a6cde',
      '0x4b21a98ca11613e848d71d25db5eb5a6ee6e910560d8f8eebeff8ea5168af917',
    ])
  })
})

describe('a permit through Permit2', () => {
  test('becomes the deposit of its order, in the name of its owner, and leaves nothing', async () => {
    const terms = await termsOf()
    const before = await balanceOf(owner.address)
    const { logs } = await submit(terms)
    const [event] = parseEventLogs({ abi: depositoryAbi, logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args).toMatchObject({ amount, id: terms.orderId })
    expect(event?.args.from.toLowerCase()).toBe(owner.address)
    expect([await balanceOf(owner.address), await balanceOf(router)]).toEqual([before - amount, 0n])
  })

  test('gives back what its calls leave', async () => {
    const orderId = toHex(crypto.getRandomValues(new Uint8Array(32)))
    const calls = depositCalls(owner.address, orderId, amount - 7n)
    const before = await balanceOf(owner.address)
    await submit(await termsOf({ orderId, calls }))
    expect(await balanceOf(owner.address)).toBe(before - amount + 7n)
  })

  test('hashes as wallets hash it', async () => {
    const terms = await termsOf()
    const { value: message, ...typed } = permitTypedData(terms)
    expect(toHex(permitDigest(terms))).toBe(hashTypedData({ ...typed, message }))
  })

  test('is taken once', async () => {
    const terms = await termsOf()
    const data = encodePermit(terms, await sign(terms)).data
    await bench.send(relayer, router, data)
    expect(await refusal(data)).toBe('InvalidNonce')
  })

  test.each([
    ['another order', { orderId: `0x${'ab'.repeat(32)}` as const }],
    ['another amount', { amount: amount + 1n }],
    ['a later end', { deadlineSeconds: 4_000_000_000 }],
    ['other calls', { calls: [] }],
    ['another owner', { owner: `0x${'11'.repeat(20)}` as const }],
  ])('serves nothing but what was signed: not %s', async (_what, change) => {
    const terms = await termsOf()
    const signature = await sign(terms)
    expect(await refusal(encodePermit({ ...terms, ...change }, signature).data)).toBe('InvalidSigner')
  })

  test('of another chain, for another spender, of somebody else or too late is refused', async () => {
    const terms = await termsOf()
    const call = async (signed: Permit2Terms, signer = owner) =>
      refusal(encodePermit(terms, await sign(signed, signer)).data)
    expect(await call({ ...terms, chainId: 1 })).toBe('InvalidSigner')
    expect(await call({ ...terms, router: stranger.address })).toBe('InvalidSigner')
    expect(await call(terms, stranger)).toBe('InvalidSigner')
    const late = await termsOf({ deadlineSeconds: 1_000 })
    expect(await refusal(encodePermit(late, await sign(late)).data)).toBe('SignatureExpired')
  })

  test('that was copied from the wire is worth nothing to whoever copied it', async () => {
    const terms = await termsOf()
    const data = encodePermit(terms, await sign(terms)).data
    expect(await refusal(data, stranger)).toBe('InvalidSigner')
    await bench.send(relayer, router, data)
  })

  test('Q-191: cannot be taken by calls that a thief signs and relays alone', async () => {
    const victim = await termsOf()
    const signature = await sign(victim)
    const { types, value } = permitTypedData(victim)
    const witness = hashStruct({ data: nested(value['witness']), primaryType: 'RelayerWitness', types })
    const witnessType = await bench.chain.client.readContract({
      address: router,
      abi: permit2RouterAbi,
      functionName: 'WITNESS_TYPE',
    })
    const steal = encodeFunctionData({
      abi: permit2Abi,
      functionName: 'permitWitnessTransferFrom',
      args: [
        {
          permitted: [{ token: usdc, amount }],
          nonce: BigInt(victim.orderId),
          deadline: BigInt(victim.deadlineSeconds),
        },
        [{ to: stranger.address, requestedAmount: amount }],
        owner.address,
        witness,
        witnessType,
        signature,
      ],
    })
    // Only the sender of the call keeps it from passing: the router may make it, and nothing else.
    expect(await refusal(steal, { ...relayer, address: router }, permit2Address)).toBe('it passes')
    const thief = await termsOf({
      owner: stranger.address,
      relayer: stranger.address,
      calls: [{ to: permit2Address, data: steal, value: 0n }],
    })
    const data = encodePermit(thief, await sign(thief, stranger)).data
    expect(await refusal(data, stranger)).toBe('CallFailed')
    await bench.send(relayer, router, encodePermit(victim, signature).data)
  })

  test('an allowance that its calls leave behind lets nobody take the money of a later one', async () => {
    const greedy = { to: usdc, data: approve(stranger.address, maxUint256), value: 0n }
    const orderId = toHex(crypto.getRandomValues(new Uint8Array(32)))
    const calls = [greedy, ...depositCalls(stranger.address, orderId)]
    const { logs } = await submit(await termsOf({ owner: stranger.address, orderId, calls }), stranger)
    const [left] = parseEventLogs({ abi: erc20Abi, logs, eventName: 'Approval' })
    const executor = left?.args.owner ?? zeroAddress
    expect(executor.toLowerCase()).not.toBe(router)
    const { logs: later } = await submit(await termsOf())
    const paid = parseEventLogs({ abi: erc20Abi, logs: later, eventName: 'Transfer' })
    expect(paid.map(({ args }) => args.to)).not.toContain(executor)
    expect(await balanceOf(executor)).toBe(0n)
  })

  test('all or nothing: a call that fails takes no money', async () => {
    const orderId = toHex(crypto.getRandomValues(new Uint8Array(32)))
    const calls = [
      ...depositCalls(owner.address, orderId),
      { to: usdc, data: transfer(owner.address, 1n), value: 0n },
    ]
    const terms = await termsOf({ orderId, calls })
    expect(await refusal(encodePermit(terms, await sign(terms)).data)).toBe('CallFailed')
  })

  test('reenters nothing', async () => {
    const inner = await termsOf()
    const again = encodePermit(inner, await sign(inner)).data
    const outer = await termsOf({ calls: [{ to: router, data: again, value: 0n }] })
    expect(await refusal(encodePermit(outer, await sign(outer)).data)).toBe('CallFailed')
  })

  test('money cannot be sent along, and needs an address to go back to', async () => {
    const terms = await termsOf()
    const data = encodePermit(terms, await sign(terms)).data
    await expect(
      bench.chain.client.call({ account: relayer.address, to: router, data, value: 1n }),
    ).rejects.toThrow()
    const refundTo = concatHex([`0x${'00'.repeat(12)}`, owner.address])
    const nobody = data.replaceAll(refundTo.slice(2), '0'.repeat(64))
    // CAST: words of hex in the place of words of hex.
    expect(await refusal(nobody as Hex)).toBe('InvalidRecipient')
  })
})

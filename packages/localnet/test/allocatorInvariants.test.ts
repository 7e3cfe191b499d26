// Goal: in whatever order requests, signatures, sets of oracles and builders come, and whoever sends them, the
// allocator issues one payload per spender and nonce, for a request of enough oracles alone, and nothing that it
// stored ever changes. Method: random sequences on a real node, each step foretold by a few lines of rules.
import { allocatorAbi, oracleMultisigAbi } from '@causeway/contracts'
import { bytesToHex, type Hex, type WithdrawRequest, withdrawRequestPayloadId } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import fc from 'fast-check'
import { concatHex, encodeFunctionData, zeroAddress } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HubDeployment, localChainIds } from '../src/contracts/deployment.ts'
import { userChainPlan } from '../src/deploy/contractPlan.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startHubBench } from './support/contractBench.ts'

const [runs, steps] = process.env['CAUSEWAY_FAULTS'] === '1' ? [30, 60] : [1, 40]
const testTimeoutMs = 1_800_000

let bench: ContractBench<HubDeployment>
/** The three oracles, and two accounts that become some. */
let keys: readonly LocalAccount[]
let depository: Hex

beforeAll(async () => {
  bench = await startHubBench()
  keys = [...bench.keys.oracles, freshAccount(), freshAccount()]
  depository = userChainPlan(bench.artifacts).depository.address
})
afterAll(() => bench?.stop())

type Signing = {
  readonly by: readonly number[]
  readonly order: 'rising' | 'falling' | 'first twice'
  readonly isOfAnother: boolean
}
type Step =
  | {
      readonly kind: 'submit'
      readonly request: { readonly spender: number; readonly nonce: number; readonly amount: bigint }
      readonly isOfKnownChain: boolean
      readonly hasData: boolean
      readonly signing: Signing
    }
  | { readonly kind: 'store'; readonly payload: number; readonly hash: number; readonly isSigner: boolean }
  | {
      readonly kind: 'signers'
      readonly by: readonly number[]
      readonly threshold: number
      readonly isOwner: boolean
    }
  | { readonly kind: 'builder'; readonly isNone: boolean; readonly isOwner: boolean }

/** Two or three of the oracles, or any of the five keys. */
const some = fc.oneof(
  { weight: 4, arbitrary: fc.subarray([0, 1, 2], { minLength: 2 }) },
  { weight: 1, arbitrary: fc.uniqueArray(fc.nat(4), { maxLength: 4 }) },
)
const mostly = fc.constantFrom(true, true, true, true, true, true, true, false)
const seldom = mostly.map((is) => !is)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      request: fc.record({ spender: fc.nat(2), nonce: fc.nat(3), amount: fc.bigInt({ min: 0n, max: 9n }) }),
      isOfKnownChain: mostly,
      hasData: seldom,
      signing: fc.record({
        by: some,
        order: fc.constantFrom('rising', 'rising', 'rising', 'rising', 'falling', 'first twice'),
        isOfAnother: seldom,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('store' as const),
      payload: fc.nat(5),
      hash: fc.nat(2),
      isSigner: mostly,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('signers' as const),
      by: some,
      threshold: fc.nat(3),
      isOwner: mostly,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('builder' as const),
      isNone: seldom,
      isOwner: mostly,
    }),
  },
)

/** Expected state of the contracts. */
type Model = {
  signers: ReadonlySet<number>
  threshold: number
  hasBuilder: boolean
  /** Payload ids by spender and nonce. */
  readonly issued: Map<string, Hex>
  /** Payload bytes by id. */
  readonly payloads: Map<Hex, Hex>
  /** By payload id and hash. */
  readonly signatures: Map<string, Hex>
}

const word = (value: number | bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const read = (functionName: 'payloads' | 'payloadTimestamps', id: Hex) =>
  bench.chain.client.readContract({
    address: bench.deployment.allocator,
    abi: allocatorAbi,
    functionName,
    args: [id],
  })

/** Sends it where it should pass, and else sees the refusal that was foretold. @returns whether it passed */
async function does(from: LocalAccount, to: Hex, data: Hex, refusal: string | undefined): Promise<boolean> {
  if (refusal !== undefined) expect(await bench.revert(from, to, data)).toBe(refusal)
  else await bench.send(from, to, data)
  return refusal === undefined
}

const addressOf = (index: number): bigint => BigInt(keys[index]?.address ?? 0n)

function ordered({ by, order }: Signing): readonly number[] {
  const rising = [...by].sort((a, b) => (addressOf(a) < addressOf(b) ? -1 : 1))
  if (order === 'falling') return rising.reverse()
  return order === 'rising' ? rising : [...rising.slice(0, 1), ...rising]
}

async function signatures(request: WithdrawRequest, signing: Signing): Promise<Hex> {
  const domain = { chainId: bench.chain.chainId, verifyingContract: bench.deployment.allocator }
  const meant = signing.isOfAnother ? { ...request, amount: request.amount + 1n } : request
  const hash = bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request: meant }))
  const each = ordered(signing).map(async (index) => {
    const { privateKey } = keys[index] ?? freshAccount()
    return sign({ hash, privateKey, to: 'hex' })
  })
  return concatHex(await Promise.all(each))
}

/** At least as many as needed, and the first of them known, each once in rising order, over this request. */
function isQuorum({ signers, threshold }: Model, signing: Signing): boolean {
  const read = ordered(signing).slice(0, threshold)
  if (signing.isOfAnother || read.length < threshold) return false
  return read.every((index, place) => {
    const before = read[place - 1]
    return signers.has(index) && (before === undefined || addressOf(before) < addressOf(index))
  })
}

async function submit(taken: Extract<Step, { kind: 'submit' }>, model: Model): Promise<void> {
  const { spender, nonce, amount } = taken.request
  const request: WithdrawRequest = {
    chainId: taken.isOfKnownChain ? BigInt(localChainIds.base) : 1n,
    depository,
    amount,
    currency: zeroAddress,
    recipient: `0x${'22'.repeat(20)}`,
    data: taken.hasData ? '0x01' : '0x',
    spender: `0x${'99'.repeat(19)}0${spender}`,
    nonce: word(nonce),
  }
  const { recipient: receiver, ...rest } = request
  const data = encodeFunctionData({
    abi: allocatorAbi,
    functionName: 'submitWithdrawRequest',
    args: [{ ...rest, receiver }, await signatures(request, taken.signing)],
  })
  const place = `${spender} ${nonce}`
  const refusal = () => {
    if (!isQuorum(model, taken.signing)) return 'InvalidSignature'
    if (!taken.isOfKnownChain || !model.hasBuilder) return 'UnknownBuilder'
    if (model.issued.has(place)) return 'NonceUsed'
    return taken.hasData ? 'EmptyPayload' : undefined
  }
  if (!(await does(bench.keys.fillWallet, bench.deployment.allocator, data, refusal()))) return
  const id = withdrawRequestPayloadId(request)
  model.issued.set(place, id)
  // CAST: the function answers bytes.
  model.payloads.set(id, (await read('payloads', id)) as Hex)
}

async function store(
  { payload, hash, isSigner }: Extract<Step, { kind: 'store' }>,
  model: Model,
): Promise<void> {
  const known = [...model.payloads.keys()][payload]
  const id = known ?? word(7)
  const place = `${id} ${hash}`
  const signature: Hex = `0x${crypto.getRandomValues(new Uint8Array(8)).reduce((text, byte) => text + byte.toString(16).padStart(2, '0'), '')}`
  const data = encodeFunctionData({
    abi: allocatorAbi,
    functionName: 'storeSignature',
    args: [id, word(hash), signature],
  })
  const refusal = () => {
    if (!isSigner) return 'NotSigner'
    if (known === undefined) return 'UnknownPayload'
    return model.signatures.has(place) ? 'AlreadySigned' : undefined
  }
  const from = isSigner ? bench.keys.allocator : bench.keys.deployer
  if (await does(from, bench.deployment.allocator, data, refusal())) model.signatures.set(place, signature)
}

async function take(taken: Step, model: Model): Promise<void> {
  if (taken.kind === 'submit') return submit(taken, model)
  if (taken.kind === 'store') return store(taken, model)
  const from = taken.isOwner ? bench.keys.deployer : bench.keys.allocator
  if (taken.kind === 'builder') {
    const { allocator, evmPayloadBuilder } = bench.deployment
    const args = [
      BigInt(localChainIds.base),
      depository,
      taken.isNone ? zeroAddress : evmPayloadBuilder,
    ] as const
    const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'setBuilder', args })
    if (await does(from, allocator, data, taken.isOwner ? undefined : 'NotOwner'))
      model.hasBuilder = !taken.isNone
    return
  }
  const { by, threshold, isOwner } = taken
  const accounts = by.map((index) => keys[index]?.address ?? zeroAddress)
  const data = encodeFunctionData({
    abi: oracleMultisigAbi,
    functionName: 'setSigners',
    args: [accounts, BigInt(threshold)],
  })
  const isPossible = threshold > 0 && threshold <= by.length
  const refusal = !isOwner ? 'NotOwner' : isPossible ? undefined : 'InvalidThreshold'
  if (!(await does(from, bench.deployment.oracleMultisig, data, refusal))) return
  model.signers = new Set(by)
  model.threshold = threshold
}

/** Everything that was ever stored is as it was. */
async function isUnchanged({ issued, payloads, signatures }: Model): Promise<void> {
  for (const [place, id] of issued) {
    const [spender, nonce = '0'] = place.split(' ')
    const named = await bench.chain.client.readContract({
      address: bench.deployment.allocator,
      abi: allocatorAbi,
      functionName: 'payloadIdOf',
      args: [`0x${'99'.repeat(19)}0${spender}`, word(Number(nonce))],
    })
    expect(named).toBe(id)
    expect(await read('payloads', id)).toBe(payloads.get(id))
  }
  for (const [place, signature] of signatures) {
    const [id, hash] = place.split(' ')
    const kept = await bench.chain.client.readContract({
      address: bench.deployment.allocator,
      abi: allocatorAbi,
      functionName: 'signedPayloads',
      // CAST: the place was made of a payload id.
      args: [id as Hex, word(Number(hash))],
    })
    expect(kept).toBe(signature)
  }
}

test('one payload per spender and nonce, of enough oracles, kept as it was issued', {
  timeout: testTimeoutMs,
}, async () => {
  await bench.chain.node.setBalance({ address: bench.keys.allocator.address, value: 10n ** 21n })
  const seen = { payloads: 0, signatures: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: steps, maxLength: steps }), async (sequence) => {
      const snapshot = await bench.chain.node.snapshot()
      const oracles = new Set(bench.keys.oracles.map(({ address }) => address))
      const model: Model = {
        signers: new Set(keys.flatMap(({ address }, index) => (oracles.has(address) ? [index] : []))),
        threshold: 2,
        hasBuilder: true,
        issued: new Map(),
        payloads: new Map(),
        signatures: new Map(),
      }
      for (const taken of sequence) await take(taken, model)
      await isUnchanged(model)
      seen.payloads += model.payloads.size
      seen.signatures += model.signatures.size
      await bench.chain.node.revert({ id: snapshot })
    }),
    { numRuns: runs },
  )
  if (runs > 1) expect(Math.min(seen.payloads, seen.signatures)).toBeGreaterThan(0)
})

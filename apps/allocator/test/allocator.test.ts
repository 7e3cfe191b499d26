// Goal: the process that holds the allocator's key signs what the contract issued for its own depositories,
// once, over kills, and nothing else; the depository then pays on that signature alone. Method: the process
// as `npm start` runs it, on real nodes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  bytesToHex,
  decodeEvmWithdrawal,
  type Hex,
  payloadHashes,
  signingDigest,
  type WithdrawRequest,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { concatHex, encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress, sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { judgeIssued } from '../src/allocator/issued.ts'
import { signedPlaceSchema } from '../src/allocator/signedPlace.ts'
import { allocatorSignerFile } from '../src/allocator/signerConfig.ts'
import { allocatorAbi, depositoryAbi } from '../src/contracts/abis.generated.ts'
import { startTestNetwork, type TestNetwork } from '../src/network/testNetwork/startTestNetwork.ts'
import { spawnAllocatorSigner } from '../src/solver/spawnSolver.ts'
import { until } from './support/networkBench.ts'

let network: TestNetwork
beforeAll(async () => {
  network = await startTestNetwork()
})
afterAll(() => network?.stop())

const amount = 4_000_000n
const freshAddress = () => privateKeyToAddress(generatePrivateKey()).toLowerCase()

function request(change: Partial<WithdrawRequest> = {}): WithdrawRequest {
  const { base } = network.deployment
  return {
    chainId: BigInt(base.chainId),
    ...{ depository: base.depository, currency: base.tokens.USDC, amount, recipient: freshAddress() },
    // CAST: an address is hex.
    ...{ spender: freshAddress() as Hex, data: '0x', nonce: bytes32(1), ...change },
  }
}

const bytes32 = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`

async function issue(wanted: WithdrawRequest): Promise<Hex> {
  const { hub } = network.deployment
  const domain = { chainId: network.chains.hub.chainId, verifyingContract: hub.allocator }
  const hash = bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request: wanted }))
  const oracles = [...network.keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  const signatures = await Promise.all(
    oracles.slice(0, 2).map(({ privateKey }) => sign({ hash, privateKey, to: 'hex' })),
  )
  const { recipient, ...rest } = wanted
  const args = [{ ...rest, receiver: recipient }, concatHex(signatures)] as const
  const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'submitWithdrawRequest', args })
  const submission = { what: 'submission', to: hub.allocator, data }
  await network.chains.hub.chain.send(network.keys.fillWallet, [submission])
  return withdrawRequestPayloadId(wanted)
}

async function issuedFor(wanted: WithdrawRequest) {
  const payloadId = withdrawRequestPayloadId(wanted)
  const { client } = network.chains.hub.chain
  const allocator = { address: network.deployment.hub.allocator, abi: allocatorAbi }
  const payload = await client.readContract({ ...allocator, functionName: 'payloads', args: [payloadId] })
  const place = { hubChainId: wanted.chainId, depository: wanted.depository }
  const [hash] = payloadHashes('ethereum-vm', payload, place)
  if (hash === undefined) throw new Error('no hash')
  const args = [payloadId, hash] as const
  const signature = () => client.readContract({ ...allocator, functionName: 'signedPayloads', args })
  return { payloadId, payload, signature }
}

/** A signer in a process of its own; gone after the test. */
async function startSigner(change: object = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-allocator-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'allocator.json')
  const file = { ...allocatorSignerFile(network, { healthPort: 0, pollMs: 50 }), ...change }
  await writeFile(path, JSON.stringify(file), { mode: 0o600 })
  const signer = spawnAllocatorSigner(path)
  onTestFinished(async () => {
    signer.kill('SIGKILL')
    await signer.ended
  })
  return signer
}

describe('the allocator signer', () => {
  test('signs what was issued once it is final, once over a kill, and the depository pays on it', async () => {
    const wanted = request()
    const signer = await startSigner()
    await signer.ready()
    await issue(wanted)
    const { payloadId, payload, signature } = await issuedFor(wanted)
    expect(await signature()).toBe('0x')
    await network.mine('hub', 2)
    await until('it is signed', async () => (await signature()) !== '0x')
    signer.kill('SIGKILL')
    await signer.ended
    const second = await startSigner()
    const later = request()
    await issue(later)
    await network.mine('hub', 2)
    const other = await issuedFor(later)
    await until('the next one is signed', async () => (await other.signature()) !== '0x')
    expect(second.output()).not.toContain(`payload ${payloadId}: signed`)

    const { base } = network.deployment
    const { USDC } = base.tokens
    const fund = encodeFunctionData({
      ...{ abi: erc20Abi, functionName: 'transfer', args: [base.depository, amount] },
    })
    const args = [decodeEvmWithdrawal(payload), await signature()] as const
    const pay = encodeFunctionData({ abi: depositoryAbi, functionName: 'execute', args })
    await network.chains.base.chain.send(network.keys.fillWallet, [
      { what: 'funding', to: USDC, data: fund },
      { what: 'payout', to: base.depository, data: pay },
    ])
    const received = await network.chains.base.chain.client.readContract({
      // CAST: the recipient is an address.
      ...{ address: USDC, abi: erc20Abi, functionName: 'balanceOf', args: [wanted.recipient as Hex] },
    })
    expect(received).toBe(amount)
  })

  test('signs nothing of a depository that is not its own', async () => {
    const signer = await startSigner({ depositories: [] })
    await signer.ready()
    const wanted = request()
    const payloadId = await issue(wanted)
    await network.mine('hub', 2)
    const refusal = `payload ${payloadId}: not signed, its depository is not signed for here`
    await until('it is refused', () => signer.output().includes(refusal))
    expect(await (await issuedFor(wanted)).signature()).toBe('0x')
  })

  test('does not start with a key that the contract does not take signatures of', async () => {
    const { privateKey } = network.keys.deployer
    const signer = await startSigner({ allocatorKey: privateKey })
    expect(await signer.ended).toBe('exit code 1')
    expect(signer.output()).toContain('the allocator takes signatures of')
    expect(signer.output()).not.toContain(privateKey.slice(2))
  })

  test('does not believe the builder: another payment, id or nonce gets no signature', async () => {
    const wanted = request()
    await issue(wanted)
    const { payloadId, payload } = await issuedFor(wanted)
    const file = allocatorSignerFile(network, { healthPort: 0, pollMs: 50 })
    const depositories = signedPlaceSchema.array().parse(file.depositories)
    const issued = { payloadId, payload, request: wanted }
    expect(judgeIssued(issued, depositories)).toMatchObject({ kind: 'sign' })
    const other = request()
    await issue(other)
    const theirs = await issuedFor(other)
    for (const [forged, reason] of [
      [{ ...issued, payloadId: bytes32(7) }, 'its request has another id'],
      [{ ...issued, request: { ...wanted, amount: amount + 1n } }, 'its request has another id'],
      [{ ...issued, payload: theirs.payload }, 'its payload pays something else'],
    ] as const) {
      expect(judgeIssued(forged, depositories)).toEqual({ kind: 'refuse', reason })
    }
  })
})

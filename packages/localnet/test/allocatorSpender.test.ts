// Goal: the allocator takes the withdraw request whose digest the protocol publishes, signed by two of
// the three oracles, once. Method: as deployed, on a real node, with digests of `core`.
import { bytesToHex, type Hex, signingDigest, withdrawRequestPayloadId } from '@causeway/core'
import { concatHex, encodeFunctionData } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withdrawRequest } from '../../core/test/vectors/messages.ts'
import { allocatorSpenderAbi } from '../src/contracts/abis.generated.ts'
import type { HubDeployment } from '../src/deploy/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startHubBench } from './support/contractBench.ts'

let bench: ContractBench<HubDeployment>
let oracles: readonly LocalAccount[]

beforeAll(async () => {
  bench = await startHubBench()
  oracles = [...bench.keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
})
afterAll(() => bench?.stop())

type Request = typeof withdrawRequest

async function signed(request: Request, by: readonly LocalAccount[], chainId = bench.chain.chainId) {
  const domain = { chainId, verifyingContract: bench.deployment.allocatorSpender }
  const hash = bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request }))
  return concatHex(await Promise.all(by.map(({ privateKey }) => sign({ hash, privateKey, to: 'hex' }))))
}

function submit({ recipient, ...request }: Request, signature: Hex): Hex {
  const args = [{ ...request, receiver: recipient }, signature] as const
  return encodeFunctionData({ abi: allocatorSpenderAbi, functionName: 'submitWithdrawRequest', args })
}

const refusal = (data: Hex) => bench.revert(bench.keys.fillWallet, bench.deployment.allocatorSpender, data)

describe('a withdraw request', () => {
  test('of two oracles is taken once and remembered under its payload id', async () => {
    const { allocatorSpender } = bench.deployment
    const data = submit(withdrawRequest, await signed(withdrawRequest, oracles.slice(0, 2)))
    await bench.send(bench.keys.fillWallet, allocatorSpender, data)
    const isSubmitted = await bench.chain.client.readContract({
      address: allocatorSpender,
      abi: allocatorSpenderAbi,
      functionName: 'isSubmitted',
      args: [withdrawRequestPayloadId(withdrawRequest)],
    })
    expect(isSubmitted).toBe(true)
    expect(await refusal(data)).toBe('AlreadySubmitted')
  })

  test.each<[string, () => Promise<Hex>]>([
    ['one oracle alone', () => signed({ ...withdrawRequest, amount: 1n }, oracles.slice(0, 1))],
    [
      'an outsider',
      () => signed({ ...withdrawRequest, amount: 1n }, [...oracles.slice(0, 1), freshAccount()]),
    ],
    ['oracles over another chain', () => signed({ ...withdrawRequest, amount: 1n }, oracles.slice(0, 2), 1)],
    ['oracles over another amount', () => signed({ ...withdrawRequest, amount: 2n }, oracles.slice(0, 2))],
  ])('signed by %s is refused', async (_who, signature) => {
    expect(await refusal(submit({ ...withdrawRequest, amount: 1n }, await signature()))).toBe(
      'InvalidSignature',
    )
  })
})

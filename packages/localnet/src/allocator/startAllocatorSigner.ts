import { allocatorAbi } from '@causeway/contracts'
import {
  ConfigurationError,
  type Hex,
  InvalidAddressError,
  InvalidWithdrawalError,
  InvalidWithdrawRequestError,
} from '@causeway/core'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { connectLocalChain, type LocalChain } from '../nodes/localChain.ts'
import { startHealth } from '../processes/health.ts'
import { startLoop } from '../processes/loop.ts'
import { type IssuedPayload, judgeIssued, type Verdict } from './issued.ts'
import type { AllocatorSignerConfig } from './signerConfig.ts'
import { signPayloadHash } from './signPayloadHash.ts'

export type AllocatorSigner = { readonly healthPort: number; stop(): Promise<void> }

const signerNotice =
  "A development part of a local network: it holds the allocator's key, which no other process has."
const logRangeBlocks = 10_000n

/**
 * Signs what the allocator's contract issued and stores the signatures there; stands in for the signing
 * service of a real allocator. Keeps nothing: what is stored already is not signed again.
 * @throws ConfigurationError when the node is of another chain, or the contract has another signer
 */
export async function startAllocatorSigner(
  config: AllocatorSignerConfig,
  log: (line: string) => void,
): Promise<AllocatorSigner> {
  log(`The allocator signer. ${signerNotice}`)
  const chain = connectLocalChain(config.rpcUrl, config.chainId)
  const account = privateKeyToAccount(config.allocatorKey)
  await checkContract(chain, config, account.address)
  let nextBlock = 0n
  let [signed, refused] = [0, 0]
  let lastProblem: string | undefined

  async function signIssued(issued: IssuedPayload): Promise<void> {
    const verdict = judge(issued, config)
    if (verdict.kind === 'refuse') {
      refused += 1
      log(`payload ${issued.payloadId}: not signed, ${verdict.reason}`)
      return
    }
    for (const hash of verdict.hashes) {
      if ((await storedSignature(chain, config, issued.payloadId, hash)) !== '0x') continue
      const signature = await signPayloadHash(verdict.place.vmType, hash, config.allocatorKey)
      const args = [issued.payloadId, hash, signature] as const
      const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'storeSignature', args })
      const from = { address: account.address, privateKey: config.allocatorKey }
      await chain.send(from, [{ what: `signature of ${issued.payloadId}`, to: config.allocator, data }])
      signed += 1
      log(`payload ${issued.payloadId}: signed`)
    }
  }

  const loop = startLoop({
    everyMs: config.pollMs,
    async run() {
      const head = await chain.client.getBlockNumber({ cacheTime: 0 })
      const finalBlock = head - BigInt(config.confirmations)
      while (nextBlock <= finalBlock) {
        const last = nextBlock + logRangeBlocks - 1n
        const toBlock = last < finalBlock ? last : finalBlock
        for (const issued of await readIssued(chain, config, { fromBlock: nextBlock, toBlock })) {
          await signIssued(issued)
        }
        nextBlock = toBlock + 1n
      }
      lastProblem = undefined
    },
    report(line) {
      lastProblem = line
      log(`a round ${line}`)
    },
  })
  const health = await startHealth(config.healthPort, () => ({
    ...{ notice: signerNotice, signer: account.address, signed, refused, lastProblem },
  }))
  return {
    healthPort: health.port,
    async stop() {
      await loop.stop()
      await health.stop()
    },
  }
}

/** A payload that cannot be read is one of a builder that nobody should trust. */
function judge(issued: IssuedPayload, { depositories }: AllocatorSignerConfig): Verdict {
  try {
    return judgeIssued(issued, depositories)
  } catch (error) {
    const isUnreadable =
      error instanceof InvalidWithdrawalError ||
      error instanceof InvalidWithdrawRequestError ||
      error instanceof InvalidAddressError
    if (isUnreadable) return { kind: 'refuse', reason: 'its payload cannot be read' }
    throw error
  }
}

async function checkContract(
  chain: LocalChain,
  { chainId, allocator }: AllocatorSignerConfig,
  own: Hex,
): Promise<void> {
  const found = await chain.client.getChainId()
  if (found !== chainId) throw new ConfigurationError(`the node of chain ${chainId} says chain ${found}`)
  const signer = await chain.client.readContract({
    ...{ address: allocator, abi: allocatorAbi, functionName: 'signer' },
  })
  if (signer.toLowerCase() === own.toLowerCase()) return
  throw new ConfigurationError(`the allocator takes signatures of ${signer} alone`)
}

function storedSignature(
  chain: LocalChain,
  { allocator }: AllocatorSignerConfig,
  payloadId: Hex,
  hash: Hex,
): Promise<Hex> {
  return chain.client.readContract({
    ...{ address: allocator, abi: allocatorAbi, functionName: 'signedPayloads', args: [payloadId, hash] },
  })
}

/** What was issued in these blocks, with the request of each payload. */
async function readIssued(
  { client }: LocalChain,
  { allocator: address }: AllocatorSignerConfig,
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<readonly IssuedPayload[]> {
  const shared = { address, abi: allocatorAbi, strict: true, ...range } as const
  const [built, submitted] = await Promise.all([
    client.getContractEvents({ ...shared, eventName: 'PayloadBuilt' }),
    client.getContractEvents({ ...shared, eventName: 'WithdrawRequestSubmitted' }),
  ])
  const requests = new Map(submitted.map(({ args }) => [args.payloadId, args.request]))
  return built.flatMap(({ args: { payloadId, payload } }) => {
    const request = requests.get(payloadId)
    if (request === undefined) return []
    const { receiver, ...rest } = request
    return [{ payloadId, payload, request: { ...rest, recipient: receiver } }]
  })
}

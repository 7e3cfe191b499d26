// Three peered oracles, the allocator of the local hub with its signer, and a chain of every family: what a
// withdrawal needs from its owner's signature to its end.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Hex,
  hubAlias,
  hubTokenId,
  type OwnerRequest,
  ownerRequestDigest,
  withdrawalAddress,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { payloadHashes, payloadWithdrawal } from '@causeway/families/rules'
import {
  allocatorAbi,
  allocatorEnvironment,
  allocatorKeys,
  type LocalAccount,
  spawnAllocator,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { grantBalance } from '../../apps/oracle/test/support/hubLedger.ts'
import { issuedPayload, submitWithdrawRequest } from '../../apps/oracle/test/support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from '../../apps/oracle/test/support/oracleTrio.ts'
import { type Answer, accept, ask, payloadIdOf } from '../../apps/oracle/test/support/ownerWithdrawals.ts'
import { startVenues, type Venue, type Venues } from '../../packages/localnet/test/support/familyVenues.ts'

type Terms = {
  readonly owner: LocalAccount
  readonly nonce: string
  readonly additionalData?: OwnerRequest['additionalData']
  /** Default: the venue's. */
  readonly amount?: bigint
}

export type Requested = {
  readonly venue: Venue
  /** Body of the routes of an owner. */
  readonly flow: Readonly<Record<string, unknown>>
  readonly addressRequest: Readonly<Record<string, string>>
  readonly token: bigint
  readonly alias: Hex
  readonly holder: Hex
}

export type Issued = { readonly payloadId: Hex; readonly payload: Hex; readonly hashes: readonly Hex[] }

export type WithdrawalBed = {
  readonly network: TestNetwork
  readonly venues: Venues
  readonly trio: OracleTrio
  /** An owner on base with that balance asks for it; it is at its withdrawal address when this resolves. */
  request(venue: Venue, terms: Terms): Promise<Requested>
  /** Another request of the same owner over the same money, signed by him. */
  signed(owner: LocalAccount, request: OwnerRequest): Promise<Readonly<Record<string, unknown>>>
  /** Oracles' signatures for the allocator. */
  authorise(flow: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Authorised, brought to the allocator and issued in a final block. */
  issue(requested: Requested): Promise<Issued>
  /** Those that the allocator's signer has stored; `0x` where it has not. */
  stored(issued: Issued): Promise<readonly Hex[]>
  /** The signer's own process runs from now on. */
  startSigner(): Promise<void>
  v1(requested: Requested, issued: Issued, named?: object): Promise<Answer>
  v2(requested: Pick<Requested, 'flow'>, named?: object): Promise<Answer>
  stop(): Promise<void>
}

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const

export async function startWithdrawalBed(): Promise<WithdrawalBed> {
  const network = await startTestNetwork()
  const venues = await startVenues(network)
  const trio = await startOracleTrio(network, venues.variables)
  const folder = await mkdtemp(join(tmpdir(), 'causeway-withdrawals-'))
  const signers: ReturnType<typeof spawnAllocator>[] = []
  const { allocator } = network.deployment.hub

  async function signed(owner: LocalAccount, request: OwnerRequest) {
    const hash = toHex(ownerRequestDigest(request))
    return { ...request, ownerSignature: await privateKeyToAccount(owner.privateKey).sign({ hash }) }
  }
  const authorise = (flow: Readonly<Record<string, unknown>>) => ask(trio, 'withdrawal-initiated/v2', flow)

  return {
    network,
    venues,
    trio,
    signed,
    authorise,
    async request(venue, { owner, nonce, additionalData, amount = venue.amount }) {
      const { chainId, currency, recipient, vmType, depository } = venue
      const chain = {
        chainId,
        ...mainNetwork(vmType),
        ...(vmType === 'bitcoin-vm' && { network: 'regtest' }),
      }
      const [token, alias] = [hubTokenId(chain, currency), hubAlias(base, owner.address)]
      await grantBalance(network, { holder: alias, token, amount })
      await network.mine('hub', 3)
      const flow = await signed(owner, {
        chainId,
        currency,
        amount: amount.toString(),
        recipient,
        nonce,
        ownerChainId: 'base',
        owner: owner.address,
        ...(additionalData !== undefined && { additionalData }),
      })
      await accept(network, await ask(trio, 'withdrawal-initiation/v2', flow))
      return {
        venue,
        flow,
        token,
        alias,
        addressRequest: {
          chainId,
          currency,
          recipient,
          withdrawalNonce: nonce,
          withdrawer: owner.address,
          withdrawerChainId: 'base',
        },
        holder: withdrawalAddress(chain, {
          depository,
          currency,
          recipient,
          ownerAlias: alias,
          nonce: BigInt(nonce),
        }),
      }
    },
    async issue({ venue, flow }) {
      const { status, body } = await authorise(flow)
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
      const outcome = await submitWithdrawRequest(network, body.payloadParams)
      if (outcome !== 'accepted') throw new Error(outcome)
      const payloadId = payloadIdOf(body.payloadParams)
      const payload = await issuedPayload(network, payloadId)
      const { chainId, depository } = body.payloadParams
      const place = { hubChainId: BigInt(chainId), depository }
      return { payloadId, payload, hashes: payloadHashes(venue.vmType, payload, place) }
    },
    stored: ({ payloadId, hashes }) =>
      Promise.all(
        hashes.map((hash) =>
          network.chains.hub.chain.client.readContract({
            address: allocator,
            abi: allocatorAbi,
            functionName: 'signedPayloads',
            args: [payloadId, hash],
          }),
        ),
      ),
    async startSigner() {
      const { ecdsa, ed25519 } = allocatorKeys(network)
      const signer = spawnAllocator({
        ...allocatorEnvironment(network, { opsPort: 0, pollMs: 50, stateDirectory: folder }),
        ALLOCATOR_ECDSA_PRIVATE_KEY: ecdsa,
        ALLOCATOR_ED25519_PRIVATE_KEY: ed25519,
      })
      signers.push(signer)
      await signer.ready()
    },
    v1: ({ venue, addressRequest }, { payload }, named = {}) =>
      ask(trio, 'depository-withdrawals/v1', {
        chainId: venue.chainId,
        withdrawal: payloadWithdrawal(venue.vmType, payload),
        withdrawalAddressRequest: addressRequest,
        ...named,
      }),
    v2: ({ flow }, named = {}) => ask(trio, 'depository-withdrawals/v2', { ...flow, ...named }),
    async stop() {
      for (const signer of signers) {
        signer.kill('SIGTERM')
        await signer.ended
      }
      await trio.stop()
      await venues.stop()
      await network.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// What fill wallets say of their nonces on the hub of a test network: it is brought there for real. The oracles' keys vouch
// in this process, after they looked at what the wallet signed, as oracles do.
import {
  createHubEntries,
  createJsonRpcClient,
  createMappingWriter,
  createNonceMappings,
  createQuorumOver,
  type HubEntries,
  MalformedAnswerError,
  type NonceMappings,
} from '@causeway/chains'
import { bytesToHex, nonceMappingDigest, Secret, signingDigest } from '@causeway/core'
import { keccak256, recoverAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { LocalAccount } from '../../keys/localKeys.ts'
import type { TestNetwork } from './startTestNetwork.ts'

export type HubMappings = {
  readonly mappings: NonceMappings
  readonly entries: HubEntries
  /** Whether what was never said can be read as such, and whether oracles vouch. */
  set(faults: { readonly isGarbled?: boolean; readonly isSilent?: boolean }): void
  stop(): Promise<void>
}

const signatureChain = { id: 'base', number: 8_453 }

/** @param chain of the transfers, whose family's names no order in them */
export function startHubMappings(
  { chains, keys, deployment }: Pick<TestNetwork, 'chains' | 'keys' | 'deployment'>,
  chain: Parameters<typeof createNonceMappings>[0]['chain'],
): HubMappings {
  let faults: Parameters<HubMappings['set']>[0] = {}
  const client = createJsonRpcClient({
    ...{ chainId: 'relay', endpoints: [{ url: new Secret(chains.hub.url) }], now: () => Date.now() },
  })
  const { genericMapping, oracleMultisig: multisig } = deployment.hub
  const real = createHubEntries({
    quorum: createQuorumOver(client, { now: () => Date.now() }),
    mappingAddress: genericMapping,
  })
  const entries: HubEntries = {
    async read(user, id, options) {
      const entry = await real.read(user, id, options)
      if (faults.isGarbled === true && entry.createdAtSeconds === 0n)
        throw new MalformedAnswerError('getEntry')
      return entry
    },
  }
  const domain = { chainId: chains.hub.chainId, verifyingContract: genericMapping }
  const oracles = keys.oracles.map((key) => oracleOf(key, () => faults.isSilent === true))
  const payer = privateKeyToAccount(keys.fillWallet.privateKey)
  const writer = createMappingWriter({
    ...{ client, entries, domain },
    signer: {
      address: keys.fillWallet.address,
      sign(request) {
        if (request.purpose !== 'transaction') throw new Error('this key pays for entries alone')
        return payer.sign({ hash: keccak256(request.unsigned) })
      },
    },
  })
  return {
    mappings: createNonceMappings({
      ...{ chain, writer, entries, signatureChain },
      vouching: { oracles, threshold: 2, domain, multisig },
    }),
    entries,
    set(next) {
      faults = next
    },
    stop: () => client.close(),
  }
}

type Vouching = Parameters<typeof createNonceMappings>[0]['vouching']

function oracleOf(
  { address, privateKey }: LocalAccount,
  isSilent: () => boolean,
): Vouching['oracles'][number] {
  const account = privateKeyToAccount(privateKey)
  return {
    async attestMapping({ signature, signatureChainId: _chain, ...mapping }, entry) {
      if (isSilent()) return { said: 'nothing', code: 'no answer' }
      const digest = nonceMappingDigest({ ...mapping, nonce: BigInt(mapping.nonce) }, signatureChain.number)
      const signer = await recoverAddress({ hash: bytesToHex(digest), signature })
      if (signer.toLowerCase() !== mapping.wallet) return { said: 'denied', code: 'INVALID_WALLET_SIGNATURE' }
      const signed = await account.sign({ hash: bytesToHex(signingDigest(entry)) })
      // As an oracle's client names it: the contract wants signers in order.
      return { said: 'signed', signer: address, signature: signed }
    },
  }
}

import type { Secret } from '@causeway/core'
import type { ChainEntry, HubFile } from '@causeway/core/config'
import type { ChainNetwork } from '@causeway/core/encodings'
import type { SigningCap } from './signingCap.ts'

/** Members of `additionalData` that may hold keys; they are kept as `Secret`. */
export const secretMembers = [
  'esploraCompatibleApiUrl',
  'blockstreamClientId',
  'blockstreamClientSecret',
  'maestroApiKey',
  'proxyApiUrl',
  'proxyApiKey',
  'rpcApiKey',
  'explorerApiUrl',
] as const

export type AdditionalData = NonNullable<ChainEntry['additionalData']>
export type SecretMember = (typeof secretMembers)[number]

/** Endpoints of a chain or of the hub. */
export type Endpoints = {
  /** In order of preference; each may hold a key in its path. */
  readonly endpoints: readonly Secret[]
  /** False without endpoints: the chain stays listed and cannot be read. */
  readonly ready: boolean
  /** Variables that `httpRpcUrl` names and that are not set. */
  readonly unsetVariables: readonly string[]
}

/** A chain of the chains file, checked, with its endpoints resolved and its secrets wrapped. */
export type RegisteredChain = Omit<
  ChainEntry,
  'httpRpcUrl' | 'wsRpcUrl' | 'rpcThreshold' | 'additionalData' | 'signingCaps'
> &
  ChainNetwork &
  Endpoints & {
    /** Websocket URLs that push new blocks; each may hold a key in its path. Absent if there are none. */
    readonly headPushUrls?: readonly Secret[]
    /** Equal answers needed for what is signed. */
    readonly rpcThreshold: number
    /** Absent if the file has none, or a variable that they name is not set. */
    readonly signingCaps?: readonly SigningCap[]
    /** Variables that `signingCaps` names and that are not set. */
    readonly unsetCapVariables?: readonly string[]
    readonly additionalData: Omit<AdditionalData, SecretMember | 'network'> & {
      readonly [Name in SecretMember]?: Secret
    }
  }

/** The hub of the hub file, with its endpoints resolved. */
export type RegisteredHub = Omit<HubFile, 'httpRpcUrl' | 'auroraHttpRpcUrl'> &
  Endpoints & {
    /** Endpoints of the allocator's chain: the hub's own when the allocator is on the hub. */
    readonly allocatorEndpoints: Endpoints
  }

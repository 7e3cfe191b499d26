import { readFileSync } from 'node:fs'
import { payingApiKeySettings, payingKeySettings, type Variables } from '@causeway/chains'
import {
  type ConfiguredSigner,
  createConfiguredSigner,
  hasHubKey,
  hubKeyPrefix,
  readPrivateKeySetting,
  readSecretSetting,
} from '@causeway/signer'
import type { Logger } from 'pino'
import type { FillKeys } from './paidChain.ts'

const readFile = (path: string) => readFileSync(path, 'utf8')

/** Reads the fill wallet's keys of families with keys of their own, from files or variables. @throws ConfigurationError */
export function readFillKeys(variables: Variables): FillKeys {
  const source = { environment: variables, readFile }
  const keys = payingKeySettings().map((name) => [name, readPrivateKeySetting({ ...source, name })] as const)
  const apiKeys = payingApiKeySettings().map(
    (name) => [name, readSecretSetting({ ...source, name })] as const,
  )
  return new Map(
    [...keys, ...apiKeys].flatMap(([name, key]) => (key === undefined ? [] : [[name, key] as const])),
  )
}

/** Opens the fill wallet's key of EVM chains, from a file, a variable or a key management service. */
export function openWallet(variables: Variables, logger: Logger): Promise<ConfiguredSigner> {
  return openKey(variables, logger)
}

/** Opens the key that pays gas on the hub; undefined where none is set. */
export async function openHubKey(
  variables: Variables,
  logger: Logger,
): Promise<ConfiguredSigner | undefined> {
  return hasHubKey(variables) ? openKey(variables, logger, { prefix: hubKeyPrefix }) : undefined
}

/** @param more.prefix of the variables' names; absent for the fill wallet */
function openKey(variables: Variables, logger: Logger, more: { readonly prefix?: typeof hubKeyPrefix } = {}) {
  return createConfiguredSigner({
    environment: variables,
    readFile,
    warn: (message) => logger.warn({ event: 'signer_setting' }, message),
    ...more,
    // A thread is for services that sign every answer; the solver signs few transactions.
    isThreaded: false,
  })
}

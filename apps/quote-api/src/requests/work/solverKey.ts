import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@causeway/core'
import type { ApiKeyRecord, ApiKeys } from '@causeway/http'

/** Scope of the solver key, which the routes of work require. */
export const solverScope = 'solver'

const record: ApiKeyRecord = { keyId: 'solver', label: 'solver', scopes: new Set([solverScope]) }

/** API keys that also know the configured solver key; without one, no caller is a solver. */
export function withSolverKey(apiKeys: ApiKeys, key: Secret | undefined): ApiKeys {
  if (key === undefined) return apiKeys
  const expected = digest(key.reveal())
  return {
    async find(keyText) {
      // Comparing digests takes the same time for every text, whatever its length.
      return timingSafeEqual(digest(keyText), expected) ? record : apiKeys.find(keyText)
    },
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

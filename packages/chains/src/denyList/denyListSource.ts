import { readFile, stat } from 'node:fs/promises'
import { ConfigurationError, type Secret } from '@causeway/core'
import { AnswerTooLongError, requestText } from '@causeway/rpc'

/** Current content of a source; `unchanged` if it equals the previous reading. */
export type SourceReading =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'read'; readonly text: string; readonly etag?: string }

/** A file or URL from which a deny list is read; `keepDenyList.ts` reads it again and again. */
export interface DenyListSource {
  /** Name of the variable that configures the source, for errors and logs. */
  readonly setting: string
  /**
   * @param etag of the list in force, if its host sent one
   * @throws ConfigurationError with the reason, which does not reveal the path or URL
   */
  read(etag: string | undefined, signal: AbortSignal): Promise<SourceReading>
}

const bytesMax = 4 * 1_024 * 1_024
const timeoutMs = 10_000

export function fileSource(path: string): DenyListSource {
  return {
    setting: 'DENY_LIST_FILE',
    async read() {
      try {
        // The size is checked first, so that a huge file is not read into memory.
        const { size } = await stat(path)
        if (size > bytesMax) throw new ConfigurationError(`the list has more than ${bytesMax} bytes`)
        return { kind: 'read', text: await readFile(path, 'utf8') }
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) throw error
        throw new ConfigurationError(`the file cannot be read (${String(error.code)})`)
      }
    },
  }
}

/** Redirects are not followed: their status is an error, because the operator did not configure the other host. */
export function urlSource(url: Secret): DenyListSource {
  return {
    setting: 'DENY_LIST_URL',
    async read(etag, signal) {
      const headers = {
        accept: 'application/json',
        'user-agent': 'causeway',
        ...(etag !== undefined && { 'if-none-match': etag }),
      }
      const question = { method: 'GET', headers, timeoutMs, answerBytesMax: bytesMax, signal } as const
      const answer = await requestText({ ...question, url: url.reveal() }).catch((error: unknown) => {
        signal.throwIfAborted()
        if (error instanceof AnswerTooLongError)
          throw new ConfigurationError(`the list has more than ${bytesMax} bytes`)
        throw new ConfigurationError('its host gives no answer')
      })
      if (answer.status === 304 && etag !== undefined) return { kind: 'unchanged' }
      if (answer.status !== 200) throw new ConfigurationError(`its host answers with status ${answer.status}`)
      return { kind: 'read', text: answer.text, ...(isTag(answer.etag) && { etag: answer.etag }) }
    },
  }
}

/** True for an etag that can be sent back in a header. */
const isTag = (etag: string | undefined): etag is string =>
  etag !== undefined && /^[\x21-\x7e]{1,256}$/.test(etag)

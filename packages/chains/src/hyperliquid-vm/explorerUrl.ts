import { Secret } from '@causeway/core'

/** The exchange serves its explorer on the host `rpc.` beside `api.`; others serve both on one. */
export function explorerUrl(url: Secret): Secret {
  return new Secret(
    url
      .reveal()
      .trim()
      .replace(/^(https?:\/\/(?:[^/@]*@)?)api\./i, '$1rpc.'),
  )
}

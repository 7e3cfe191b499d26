import { IncomingMessage } from 'node:http'

/**
 * Requests of a server that upgrades one path to websockets and nothing else. Node takes every request with
 * an `upgrade` header for an upgrade as soon as somebody listens for one, and reads no body of it; clients that
 * offer `h2c` with each request, as Java's does, would get no answer any more.
 * @source RFC 9110 7.8: a server may ignore the header
 */
export function upgradedAt(path: string): typeof IncomingMessage {
  return class extends IncomingMessage {
    /** No initial value: the base class sets `upgrade` before a field of this one exists. */
    declare isAsked: boolean | null

    get upgrade(): boolean {
      if (this.isAsked !== true) return false
      return this.method === 'CONNECT' || asksForWebsocket(this, path)
    }

    set upgrade(value: boolean | null) {
      this.isAsked = value
    }
  }
}

function asksForWebsocket({ method, url = '', headers }: IncomingMessage, path: string): boolean {
  const [asked] = url.split('?', 1)
  return method === 'GET' && asked === path && headers.upgrade?.toLowerCase() === 'websocket'
}

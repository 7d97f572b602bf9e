package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

const hcloudByHand = "by hand: Hetzner's exchange"

func hcloudContenders() []contender {
	return []contender{
		{name: "hcloud-go", floor: hcloudByHand, order: hcloudKeys},
		{name: hcloudByHand, hidden: true, order: hcloudBareKeys},
	}
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBenchBenchBenchBenchBenchBenchBenchBenchBenc bench"

func hcloudKeys(p place) (task, error) {
	client := hcloud.NewClient(hcloud.WithToken("token"), hcloud.WithEndpoint(p.base+"/hcloud"), hcloud.WithHTTPClient(p.httpClient()))
	in := hcloud.SSHKeyCreateOpts{Name: "bench", PublicKey: publicKey, Labels: map[string]string{"environment": "bench"}}
	return untilDone(func(ctx context.Context) (any, error) {
		key, _, err := client.SSHKey.Create(ctx, in)
		return key, err
	}), nil
}

// The members of the exchange, by hand.
type (
	hcloudHandKey struct {
		Name      string            `json:"name"`
		PublicKey string            `json:"public_key"`
		Labels    map[string]string `json:"labels"`
	}
	hcloudHandResult struct {
		SSHKey struct {
			ID          int64             `json:"id"`
			Name        string            `json:"name"`
			Fingerprint string            `json:"fingerprint"`
			PublicKey   string            `json:"public_key"`
			Labels      map[string]string `json:"labels"`
			Created     time.Time         `json:"created"`
		} `json:"ssh_key"`
	}
)

func hcloudBareKeys(p place) (task, error) {
	x := exchange{p.httpClient(), http.MethodPost, p.base + pathHcloudKey, "application/json",
		func(h http.Header) { h.Set("Authorization", "Bearer token") }}
	in := hcloudHandKey{"bench", publicKey, map[string]string{"environment": "bench"}}
	return untilDone(func(ctx context.Context) (any, error) {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		var out hcloudHandResult
		return &out, x.by(ctx, body, &out)
	}), nil
}

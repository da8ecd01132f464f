package app

import (
	"net/url"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
	"hudiscope/web/text"
)

// faultOf is the fault of a request of the page. What could not be reached because the browser has no network says so,
// as no advice about the server helps then.
func (s *Session) faultOf(err error) *api.Fault {
	f := client.FaultOf(err)
	if f == nil || !goapp.IsClient {
		return f
	}
	place := s.state.Table
	sample := strings.HasPrefix(place, "sample:")
	if f.Kind != "unreachable" && f.Kind != "needs part" {
		return f
	}
	here := *f
	switch {
	case offline() && !localPlace(place):
		here.Message = text.F("You are offline: %s can't be read.", model.TableName(place))
		here.Try = text.T("Connect to the network, then try again.")
		if sample {
			here.Try = text.T("Connect to the network, then try again. Samples are kept for reading without a network once the page has been open for a while.")
		}
	case sample && f.Kind == "unreachable":
		here.Message = text.F("%s can't be read: the server of this page does not answer.", model.TableName(place))
		here.Try = text.T("It was reached when the page was loaded. Start it again, or check the network.")
	default:
		return f
	}
	return &here
}

// offline reports whether the browser says that it has no network.
func offline() bool {
	on := goapp.Window().Get("navigator").Get("onLine")
	return on.Type() == goapp.TypeBoolean && !on.Bool()
}

// localPlace reports whether a table lies on this machine, where no network is needed.
func localPlace(place string) bool {
	if !strings.Contains(place, "://") {
		return strings.HasPrefix(place, "drop:")
	}
	u, err := url.Parse(place)
	return err == nil && local(u.Host)
}
